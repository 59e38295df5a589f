// The OpenCL C files that the library carries (the folder kernels/).
#pragma once

#include <string_view>

namespace opencl {

// The text of a file by its name, "reduce.cl". Throws INTERNAL for a name that is not there.
std::string_view SourceOf(std::string_view name);

}  // namespace opencl
