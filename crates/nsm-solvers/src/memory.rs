//! Scratch memory for faer, built once.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};

/// A buffer that remembers its size, so that a workspace can be cloned for another thread.
pub(crate) struct Memory {
    request: StackReq,
    buffer: MemBuffer,
}

impl Memory {
    pub(crate) fn new(request: StackReq) -> Self {
        Self { request, buffer: MemBuffer::new(request) }
    }

    pub(crate) fn stack(&mut self) -> &mut MemStack {
        MemStack::new(&mut self.buffer)
    }
}

impl Clone for Memory {
    fn clone(&self) -> Self {
        Self::new(self.request)
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Memory({} bytes)", self.request.size_bytes())
    }
}
