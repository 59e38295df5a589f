// Any op by its name, and the tensors that it gives.
#pragma once

#include "tenon/op_class.h"
#include "tenon/tensor.h"
