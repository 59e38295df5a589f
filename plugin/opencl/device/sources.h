// The OpenCL C files that the library carries (the folder kernels/).
#pragma once

#include <string_view>

namespace opencl {

// The text of a file by its name, "reduce.cl". The text lives as long as the library is open.
// Throws std::logic_error, which Guard (status.h) turns into INTERNAL, if there is no file of the
// name.
std::string_view SourceOf(std::string_view name);

}  // namespace opencl
