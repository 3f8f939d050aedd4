// The compiler has these instructions.
