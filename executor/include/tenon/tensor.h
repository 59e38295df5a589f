// Tensors with all that is declared of them: class, operators, printing.
#pragma once

#include "tenon/operators.h"
#include "tenon/print.h"
#include "tenon/tensor_class.h"
