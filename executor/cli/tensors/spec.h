// SPEC: how the command line writes a tensor.
//
//   SPEC   := "(ignored)" | [TYPE "="] VALUE | TYPE "(@file.npy)"
//   TYPE   := dims and element name joined by x: "2x3xf32", "i32" (scalar), "2x2" (element type of
//   the graph) VALUE  := "@file.npy" | "@all.npz[key]" | "@raw.bin" | generator | elements
//   generator := zeros | ones | iota[(start=,step=)] | random[(seed=,lo=,hi=)] |
//   normal[(seed=,mean=,std=)] elements  := numbers, true/false, "strings", separated by blanks or
//   commas, with or without nested brackets
//
// NumPy's names of types stand for ours: "float32" for "f32". TYPE "(@file.npy)" converts the
// array to that type; nothing else converts. Without TYPE, element type and shape come from the
// file, from the brackets, or from the graph.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// What the graph says about the tensor that a SPEC is for.
struct SpecHint {
  DataType dtype = DataType::kInvalid;  // unknown
  PartialShape shape;
};

// Errors quote the part of the SPEC that is wrong and say what would be right: kUsage, or
// kInvalidInput for a file's content.
absl::StatusOr<Tensor> ParseSpec(std::string_view spec, const SpecHint& hint);

bool IsIgnoredSpec(std::string_view spec);

// "NAME=SPEC" at the first '='. kUsage when there is none.
struct NamedSpec {
  std::string_view name;
  std::string_view spec;
};
absl::StatusOr<NamedSpec> SplitNamedSpec(std::string_view text);

// A SPEC that a Placeholder of this kind accepts; unknown dimensions become 1.
std::string SuggestSpec(const SpecHint& hint);

}  // namespace tenon::cli
