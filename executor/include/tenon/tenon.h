// Tenon's C++ library: eager ops, functions that are traced into graphs, gradients, sessions.
// Header only, C++20, on the C API alone: a program links libtenon, or a TensorFlow library.
#pragma once

#include "tenon/concrete_function.h"
#include "tenon/context.h"
#include "tenon/control_flow.h"
#include "tenon/dtype.h"
#include "tenon/error.h"
#include "tenon/function.h"
#include "tenon/gradient_tape.h"
#include "tenon/gradients.h"
#include "tenon/graph_file.h"
#include "tenon/op.h"
#include "tenon/operators.h"
#include "tenon/ops.h"
#include "tenon/optim.h"
#include "tenon/scopes.h"
#include "tenon/session.h"
#include "tenon/shape.h"
#include "tenon/tensor.h"
#include "tenon/variable.h"
