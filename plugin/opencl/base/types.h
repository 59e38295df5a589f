// Element types: how a kernel stores one, and in what it computes.
#pragma once

#include <cstdint>
#include <string>

#include "tensorflow/c/tf_datatype.h"

namespace opencl {

// A set of types, as the tables of kernels name them.
using TypeSet = uint32_t;
constexpr TypeSet kF32 = 1, kF16 = 2, kBF16 = 4, kF64 = 8, kI32 = 16, kI64 = 32, kI16 = 64,
                  kI8 = 128, kU8 = 256, kU16 = 512, kU32 = 1024, kU64 = 2048, kBool = 4096;
constexpr TypeSet kFloats = kF32 | kF16 | kBF16 | kF64;
constexpr TypeSet kInts = kI32 | kI64 | kI16 | kI8 | kU8 | kU16 | kU32 | kU64;
constexpr TypeSet kSignedInts = kI32 | kI64 | kI16 | kI8;
constexpr TypeSet kNumbers = kFloats | kInts;
constexpr TypeSet kAll = kNumbers | kBool;

enum class Kind : uint8_t { kFloat, kInt, kBool };

struct ElementType {
  TypeSet bit;
  TF_DataType type;
  size_t bytes;
  Kind kind;
  const char* stored;    // in memory
  const char* computed;  // in a register
  const char*
      wrapping;     // an unsigned integer of the computed size, in which sums wrap; or `computed`
  const char* get;  // common.cl: GET_<get>(pointer, index), PUT_<get>(pointer, index, value)
  const char* lowest;  // of the computed type: what Max of nothing is
  const char* highest;
};

// The unsigned integer of a size: what moves an element of any type of that size.
const char* UnsignedOf(size_t bytes);

// NULL for a type that no kernel here computes.
const ElementType* FindType(TF_DataType type);
// Throws UNIMPLEMENTED for such a type.
const ElementType& TypeOf(TF_DataType type);
// All types, in the order in which kernels are registered; ends with a row of no bytes.
const ElementType* AllTypes();

// The lowest finite number of the type, of the computed type.
std::string LowestFinite(const ElementType& type);
std::string HighestFinite(const ElementType& type);
// Rounds `name`, a variable of the computed type, to the type itself, as a store and a load would:
// a statement, or nothing.
std::string Rounding(const ElementType& type, const std::string& name);

// Definitions for one operand: <role>_S, _C, _U are its types; <role>_GET(p, i), <role>_PUT(p, i,
// v) move an element.
std::string DefineType(const char* role, const ElementType& type);

}  // namespace opencl
