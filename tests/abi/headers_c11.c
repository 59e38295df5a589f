// The public headers from plain C: they compile, lay structs out as agreed, and declare every
// function that the host owes, which the library has.

#include <stdio.h>

#include "tests/abi/headers.inc"

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type);
#define AT(type, member, offset) \
  _Static_assert(offsetof(type, member) == (offset), #type "." #member);
#define VALUE(constant, number) _Static_assert((constant) == (number), #constant);
#include "tests/abi/layout.inc"

typedef void (*AnyFunction)(void);

static const struct {
  const char* name;
  AnyFunction address;
} functions[] = {
#define F(name) {#name, (AnyFunction)name},
#include "tests/abi/functions.inc"
#undef F
};

int main(void) {
  size_t i;
  for (i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
    if (functions[i].address == NULL) {
      fprintf(stderr, "%s is missing\n", functions[i].name);
      return 1;
    }
  }
  printf("%zu functions\n", i);
  return 0;
}
