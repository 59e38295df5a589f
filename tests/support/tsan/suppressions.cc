// What the thread sanitizer reports that is no race, for every test program of the preset tsan.

extern "C" [[gnu::visibility("default")]] const char* __tsan_default_suppressions();

// glibc keeps the stacks of threads that have ended, and a later thread frees them together with
// the thread-local variables that a library opened at run time had there. Who joined the thread was
// told so; the sanitizer does not see that this holds for whoever frees its memory.
const char* __tsan_default_suppressions() { return "race:_dl_deallocate_tls\n"; }
