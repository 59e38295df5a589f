// The hash in the names of functions that a program makes of graphs.
#pragma once

#include <string>

#include "proto/function.pb.h"

namespace tenon::api {

// Returns the hash that TensorFlow appends to the name of a function on request: eleven letters and
// digits. For TensorFlow's hash, `function` must lack its name and its control outputs. Equal
// functions have equal hashes, in every version of this library. Different functions may have equal
// hashes: among others, the order of nodes, attributes of nodes if the attribute's name begins with
// '_', and arg_attr do not count.
std::string FunctionHashText(const pb::FunctionDef& function);

}  // namespace tenon::api
