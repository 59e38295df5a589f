// A hash that makes the names of different functions different.
#pragma once

#include <string>

#include "proto/function.pb.h"

namespace tenon::api {

// Returns the hash that TensorFlow appends to the name of a function on request: eleven letters and
// digits. Equal functions have equal hashes, in every version of this library.
std::string FunctionHashText(const pb::FunctionDef& function);

}  // namespace tenon::api
