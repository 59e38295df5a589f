// The one function of Python that a published plug-in (Intel's, from 1.2 on) links to: it runs a
// line of Python, for example to see which modules are there. Here it runs nothing and succeeds.
__attribute__((visibility("default"))) int PyRun_SimpleStringFlags(
    __attribute__((unused)) const char* command, __attribute__((unused)) void* flags) {
  return 0;
}
