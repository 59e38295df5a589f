// Checks of the arguments that callers of the client C API pass. All of them are in
// graph/c_api/arguments.h, since every function of the C interface uses them.
#pragma once

#include "graph/c_api/arguments.h"
