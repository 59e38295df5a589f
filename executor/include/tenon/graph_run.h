#pragma once

#include "tenon/export.h"

namespace tenon {

// The command `graph_run`: runs it with a program's arguments and returns its exit code. Prints to
// stdout and stderr; throws nothing.
TENON_EXPORT int GraphRunMain(int argc, char** argv);

}  // namespace tenon
