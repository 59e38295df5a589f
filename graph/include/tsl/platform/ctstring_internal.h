// Another path under which plug-ins include the layout of string elements.
#pragma once

#include "tsl/platform/ctstring.h"
