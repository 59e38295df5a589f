// Sets of quantized types, for the tables of kernels.
#pragma once

#include <cstdint>
#include "graph/tensor/dtype.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {

constexpr uint64_t kQint8 = TypeBit(DataType::kQint8), kQuint8 = TypeBit(DataType::kQuint8),
                   kQint32 = TypeBit(DataType::kQint32);
constexpr uint64_t kBytes = kQint8 | kQuint8;

}  // namespace tenon::cpu
