//! The descriptors of a product: operation, layouts of the matrices, and preference of the
//! heuristic.

use super::{
    dialect::{Dialect, data_type},
    functions::LtFunctions,
};
use crate::{
    blas::{Buffers, PartialSums},
    epilogue::Epilogue,
    library_error::LibraryError,
    product::{GemmCall, MatrixStorage, Operand},
};
use std::{
    ffi::{c_int, c_void},
    ptr::null_mut,
};

/// The descriptors of a product, destroyed when dropped.
pub(super) struct Descriptors<'table> {
    functions: &'table LtFunctions,
    operation: *mut c_void,
    /// The layouts of A, B, C and D.
    layouts: [*mut c_void; 4],
    preference: *mut c_void,
}

/// The algorithms that the heuristic may return.
#[derive(Debug, Clone, Copy)]
pub(super) struct Preference {
    /// The most bytes of workspace.
    pub(super) workspace: u64,
    /// How parts of a sum are added.
    pub(super) sums: PartialSums,
}

impl<'table> Descriptors<'table> {
    /// Creates them; an error when the library rejects an attribute, or does not have a type.
    pub(super) fn new(
        functions: &'table LtFunctions,
        dialect: &Dialect,
        product: &GemmCall,
        buffers: Buffers,
        preference: Preference,
    ) -> Result<Self, LibraryError> {
        let mut new = Self {
            functions,
            operation: null_mut(),
            layouts: [null_mut(); 4],
            preference: null_mut(),
        };
        new.create_operation(dialect, product)?;
        new.add_steps(dialect, product, buffers)?;
        for (index, operand) in [Operand::A, Operand::B, Operand::C, Operand::D]
            .into_iter()
            .enumerate()
        {
            new.create_layout(dialect, index, product.stored(operand))?;
        }
        new.create_preference(dialect, preference)?;
        Ok(new)
    }

    pub(super) fn operation(&self) -> *mut c_void {
        self.operation
    }

    pub(super) fn layouts(&self) -> [*mut c_void; 4] {
        self.layouts
    }

    pub(super) fn preference(&self) -> *mut c_void {
        self.preference
    }

    fn create_preference(
        &mut self,
        dialect: &Dialect,
        preference: Preference,
    ) -> Result<(), LibraryError> {
        // SAFETY: the pointer is writable for the whole call.
        dialect.check("MatmulPreferenceCreate", unsafe {
            (self.functions.preference_create)(&mut self.preference)
        })?;
        let (set, workspace) = (self.functions.preference_set, preference.workspace);
        // SAFETY: the descriptor exists; the attribute is an unsigned number of 8 bytes.
        let code = unsafe {
            set(
                self.preference,
                dialect.workspace,
                (&raw const workspace).cast(),
                8,
            )
        };
        dialect.check("MatmulPreferenceSetAttribute", code)?;
        if let (Some((attribute, single)), PartialSums::Single) =
            (dialect.reductions, preference.sums)
        {
            // SAFETY: as above, of 4 bytes.
            let code = unsafe { set(self.preference, attribute, (&raw const single).cast(), 4) };
            dialect.check("MatmulPreferenceSetAttribute", code)?;
        }
        Ok(())
    }

    fn create_operation(
        &mut self,
        dialect: &Dialect,
        product: &GemmCall,
    ) -> Result<(), LibraryError> {
        let compute = dialect.compute(product.arithmetic.compute);
        let scalar = dialect.scalar(product.arithmetic.compute);
        // SAFETY: the pointer is writable for the whole call.
        let code =
            unsafe { (self.functions.operation_create)(&mut self.operation, compute, scalar) };
        dialect.check("MatmulDescCreate", code)?;
        for (attribute, transposed) in dialect.transposes.into_iter().zip(product.transposed) {
            let operation: c_int = dialect.operations[usize::from(transposed)];
            self.set(dialect, attribute, &operation.to_ne_bytes())?;
        }
        Ok(())
    }

    /// Adds the scales of the factors and the epilogue, whose addresses belong to the operation.
    fn add_steps(
        &self,
        dialect: &Dialect,
        product: &GemmCall,
        buffers: Buffers,
    ) -> Result<(), LibraryError> {
        if product.scaled {
            for (attribute, address) in dialect.scales.into_iter().zip(buffers.scales) {
                self.set(dialect, attribute, &address.0.to_ne_bytes())?;
            }
        }
        let Epilogue { bias, .. } = product.epilogue;
        if bias {
            let number = product.stored(Operand::D).number;
            let [address, number_type] = dialect.bias;
            self.set(dialect, address, &buffers.bias.0.to_ne_bytes())?;
            self.set(dialect, number_type, &data_type(number).to_ne_bytes())?;
        }
        if product.epilogue == Epilogue::NONE {
            return Ok(());
        }
        let epilogue = product.epilogue.number();
        self.set(dialect, dialect.epilogue, &epilogue.to_ne_bytes())
    }

    /// Sets an attribute of the operation: a number or an address in its bytes.
    fn set(&self, dialect: &Dialect, attribute: c_int, bytes: &[u8]) -> Result<(), LibraryError> {
        // SAFETY: the descriptor exists; `bytes` can be read for its length.
        let code = unsafe {
            (self.functions.operation_set)(
                self.operation,
                attribute,
                bytes.as_ptr().cast(),
                bytes.len(),
            )
        };
        dialect.check("MatmulDescSetAttribute", code)
    }

    fn create_layout(
        &mut self,
        dialect: &Dialect,
        index: usize,
        stored: MatrixStorage,
    ) -> Result<(), LibraryError> {
        let number = dialect
            .number(stored.number)
            .ok_or_else(|| LibraryError::Unsupported {
                reason: format!("{} has no type {}", dialect.library, stored.number),
            })?;
        let (rows, columns, leading) = (
            stored.rows as u64,
            stored.columns as u64,
            stored.leading as i64,
        );
        let layout = &mut self.layouts[index];
        // SAFETY: the pointer is writable for the whole call.
        let code =
            unsafe { (self.functions.layout_create)(layout, number, rows, columns, leading) };
        dialect.check("MatrixLayoutCreate", code)?;
        // A layout is one matrix by default.
        if stored.batch == 1 {
            return Ok(());
        }
        let (count, stride) = (stored.batch as i32, stored.stride as i64);
        let set = self.functions.layout_set;
        // SAFETY: the descriptor exists; the attributes are numbers of 4 and 8 bytes.
        let codes = unsafe {
            [
                set(*layout, dialect.batch_count, (&raw const count).cast(), 4),
                set(*layout, dialect.batch_stride, (&raw const stride).cast(), 8),
            ]
        };
        codes
            .into_iter()
            .try_for_each(|code| dialect.check("MatrixLayoutSetAttribute", code))
    }
}

impl Drop for Descriptors<'_> {
    fn drop(&mut self) {
        let layouts = self
            .layouts
            .map(|layout| (layout, self.functions.layout_destroy));
        let others = [
            (self.operation, self.functions.operation_destroy),
            (self.preference, self.functions.preference_destroy),
        ];
        for (descriptor, destroy) in layouts
            .into_iter()
            .chain(others)
            // An error in `new` leaves the descriptors after it null.
            .filter(|(descriptor, _)| !descriptor.is_null())
        {
            // SAFETY: the descriptor came from the library and is not used any more.
            unsafe { destroy(descriptor) };
        }
    }
}
