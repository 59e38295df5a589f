// The hash by which TensorFlow tells functions of one name apart.
#pragma once

#include <string>

#include "proto/function.pb.h"

namespace tenon::api {

// Returns the text that TensorFlow puts behind the name of a function that is to have a hash:
// eleven letters and digits. Equal functions have equal hashes, in every version of this library.
std::string FunctionHashText(const pb::FunctionDef& function);

}  // namespace tenon::api
