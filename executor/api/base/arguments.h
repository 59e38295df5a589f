// Checks of what callers of the client API pass: those of the whole C interface.
#pragma once

#include "graph/c_api/arguments.h"
