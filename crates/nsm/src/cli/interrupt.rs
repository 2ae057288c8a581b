//! Ctrl-C, and a request to terminate, end a run in good order: what was computed is kept. A second one ends the program.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static HANDLER: Once = Once::new();

/// The flag that Ctrl-C and SIGTERM set.
pub(super) fn flag() -> &'static AtomicBool {
    HANDLER.call_once(|| {
        // Without a handler Ctrl-C ends the program at once, as usual; nothing else is lost.
        let _ = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
    });
    &INTERRUPTED
}
