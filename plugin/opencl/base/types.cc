#include "types.h"

#include "../device/status.h"

namespace opencl {
namespace {

constexpr ElementType kTypes[] = {
    {kF32, TF_FLOAT, 4, Kind::kFloat, "float", "float", "float", "PLAIN", "(-INFINITY)",
     "INFINITY"},
    {kF16, TF_HALF, 2, Kind::kFloat, "half", "float", "float", "HALF", "(-INFINITY)", "INFINITY"},
    {kBF16, TF_BFLOAT16, 2, Kind::kFloat, "ushort", "float", "float", "BF16", "(-INFINITY)",
     "INFINITY"},
    {kF64, TF_DOUBLE, 8, Kind::kFloat, "double", "double", "double", "PLAIN", "(-(double)INFINITY)",
     "((double)INFINITY)"},
    {kI32, TF_INT32, 4, Kind::kInt, "int", "int", "uint", "PLAIN", "INT_MIN", "INT_MAX"},
    {kI64, TF_INT64, 8, Kind::kInt, "long", "long", "ulong", "PLAIN", "LONG_MIN", "LONG_MAX"},
    {kI16, TF_INT16, 2, Kind::kInt, "short", "int", "uint", "PLAIN", "SHRT_MIN", "SHRT_MAX"},
    {kI8, TF_INT8, 1, Kind::kInt, "char", "int", "uint", "PLAIN", "SCHAR_MIN", "SCHAR_MAX"},
    {kU8, TF_UINT8, 1, Kind::kInt, "uchar", "int", "uint", "PLAIN", "0", "UCHAR_MAX"},
    {kU16, TF_UINT16, 2, Kind::kInt, "ushort", "int", "uint", "PLAIN", "0", "USHRT_MAX"},
    {kU32, TF_UINT32, 4, Kind::kInt, "uint", "uint", "uint", "PLAIN", "0u", "UINT_MAX"},
    {kU64, TF_UINT64, 8, Kind::kInt, "ulong", "ulong", "ulong", "PLAIN", "0ul", "ULONG_MAX"},
    {kBool, TF_BOOL, 1, Kind::kBool, "uchar", "int", "int", "BOOL", "0", "1"},
    {0, TF_FLOAT, 0, Kind::kFloat, "", "", "", "", "", ""},
};

}  // namespace

const ElementType* AllTypes() { return kTypes; }

const char* UnsignedOf(size_t bytes) {
  return bytes == 1 ? "uchar" : bytes == 2 ? "ushort" : bytes == 4 ? "uint" : "ulong";
}

const ElementType* FindType(TF_DataType type) {
  for (const ElementType* row = kTypes; row->bytes != 0; ++row) {
    if (row->type == type) return row;
  }
  return nullptr;
}

const ElementType& TypeOf(TF_DataType type) {
  if (const ElementType* row = FindType(type)) return *row;
  throw Error(TF_UNIMPLEMENTED,
              "OpenCL: no kernel computes type number " + std::to_string(static_cast<int>(type)));
}

std::string HighestFinite(const ElementType& type) {
  return type.bit == kF64    ? "DBL_MAX"
         : type.bit == kF16  ? "65504.0f"
         : type.bit == kBF16 ? "as_float(0x7f7f0000)"
         : type.bit == kF32  ? "FLT_MAX"
                             : type.highest;
}

std::string LowestFinite(const ElementType& type) {
  return type.kind == Kind::kFloat ? "(-" + HighestFinite(type) + ")" : type.lowest;
}

std::string Rounding(const ElementType& type, const std::string& name) {
  if (type.bit == kF16) return " " + name + " = RoundToHalf(" + name + ");";
  if (type.bit == kBF16) return " " + name + " = RoundToBfloat16(" + name + ");";
  if (type.kind == Kind::kBool) return " " + name + " = " + name + " != 0;";
  if (type.bytes >= 4) return "";
  return " " + name + " = (" + type.stored + ")" + name + ";";
}

std::string DefineType(const char* role, const ElementType& type) {
  const std::string name = role, get = type.get;
  return "#define " + name + "_S " + type.stored + "\n#define " + name + "_C " + type.computed +
         "\n#define " + name + "_U " + type.wrapping + "\n#define " + name + "_GET(p, i) GET_" +
         get + "(p, i)\n#define " + name + "_PUT(p, i, v) PUT_" + get + "(p, i, v)\n";
}

}  // namespace opencl
