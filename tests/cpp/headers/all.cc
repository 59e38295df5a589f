// All of the library, which gives no warning.
#include "tenon/tenon.h"
