#pragma once
#include "graph/c_api/callback_scope.h"  // IWYU pragma: export
