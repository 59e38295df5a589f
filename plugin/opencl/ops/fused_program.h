// Programs of elementwise ops: what the attribute `program` of _OpenCLFused says, for example
//
//   Mul(x0, x1); AddV2(v0, 0.5:float); LeakyRelu[0.2](v1); Greater(v2, x1); Cast<float>(v3)
//
// A statement is an op of the table of elementwise ops, Cast, SelectV2, ClipByValue or AddN. x0,
// x1, ... are the node's inputs, v0, v1, ... the values of earlier statements, and the last value
// is the result. A constant has its type behind it. In brackets stands a float attribute, in angles
// the type to which Cast converts. Inputs broadcast as in a chain of single ops; each value is
// rounded to its type, so a program computes what the chain of ops computes, bit by bit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/c/tf_datatype.h"

namespace opencl {

constexpr size_t kMostStatements = 128;
constexpr size_t kMostInputs = 8;  // a kernel has a limited number of bytes for arguments

struct FusedProgram {
  std::string body;  // OpenCL C over x0, x1, ... that sets r (MapBody)
  TF_DataType result = TF_FLOAT;
};

// Translates a program whose inputs have these types. Throws INVALID_ARGUMENT that has the number
// of the statement, from 0 on, and quotes the program: an op or a type that no statement may have,
// a value that is not there yet, a constant that its type does not have, a wrong number or type of
// operands, text behind the end, or more than kMostStatements. Throws INVALID_ARGUMENT without them
// unless there are 1 to kMostInputs inputs, and UNIMPLEMENTED if Cast or SelectV2 takes an input of
// a type that no kernel here computes.
FusedProgram TranslateProgram(std::string_view text, const std::vector<TF_DataType>& inputs);

// Whether an op whose first operand has this type may stand in a program. An op that may report an
// error of its operands, such as the division of integers, may not.
bool MayStandInProgram(std::string_view op, TF_DataType first_operand);

// The name of a type in a program, such as "float"; NULL for a type that no kernel here computes.
const char* NameOfType(TF_DataType type);

}  // namespace opencl
