// Empty: AMD's compiler has these instructions.
