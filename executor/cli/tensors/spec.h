// Parses a SPEC, the form in which the command line writes a tensor.
//
//   SPEC      := "(ignored)" | [TYPE "="] VALUE | TYPE "(@file.npy)"
//   TYPE      := dims and element name joined by x: "2x3xf32", "i32" (a scalar),
//                "2x2" (the element type of the graph)
//   VALUE     := "@file.npy" | "@all.npz[key]" | "@raw.bin" | generator | elements
//   generator := zeros | ones | iota[(start=,step=)] | random[(seed=,lo=,hi=)]
//                | normal[(seed=,mean=,std=)]
//   elements  := numbers, true/false or "strings", separated by blanks or commas,
//                with or without nested brackets
//
// NumPy's names of types are known too: "float32" for "f32". TYPE "(@file.npy)" converts the array
// to the type, which must name an element type; no other form converts. A .npz array may stand for
// the .npy file.
//
// The element type is that of TYPE; without one, that of the graph; if that is not known, that of
// the file, else string for quoted elements and f32 for others.
//
// The shape after a TYPE is that of TYPE: a scalar if it has no dims. Elements without nested
// brackets fill it in row-major order, and a single element fills all of it; nested brackets must
// have this shape, and so must the array of a file. But before an array's file a TYPE without dims
// says nothing of the shape.
// Without TYPE the shape is that of the file or of the brackets. A generator takes the shape of the
// graph, and so do elements without brackets if their number fits. A single element without
// brackets fills the shape of the graph, or is a scalar if that is not fully known. Other elements
// without brackets make one dimension. A raw file needs a TYPE with its shape. A generator needs a
// known type and shape.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// What the graph says about the tensor that a SPEC is for.
struct SpecHint {
  DataType dtype = DataType::kInvalid;  // kInvalid: unknown
  PartialShape shape;
};

// Makes the tensor that the SPEC describes, in host memory. What the SPEC leaves open comes from
// `hint`: where the SPEC names no element type, an array must have that of `hint`, and all is an
// error if HasSpecs says no of it. Nothing else compares the tensor with `hint`. Reads files.
// Errors are kUsage, or kInvalidInput for a file that cannot be read or has other content.
// "(ignored)" is no tensor: the caller asks IsIgnoredSpec first.
absl::StatusOr<Tensor> ParseSpec(std::string_view spec, const SpecHint& hint);

// Whether the SPEC is "(ignored)".
bool IsIgnoredSpec(std::string_view spec);

// "NAME=SPEC", split at the first '='. Views of the text.
struct NamedSpec {
  std::string_view name;
  std::string_view spec;
};
// kUsage if there is no '=' or no name.
absl::StatusOr<NamedSpec> SplitNamedSpec(std::string_view text);

// Whether a SPEC can write a tensor of this type. It cannot write a resource or variant: a user
// must feed what is computed from it, or fetch what does not need it.
bool HasSpecs(DataType dtype);
// A SPEC that a Placeholder of this type and shape accepts. Unknown dimensions become 1, an unknown
// rank a scalar, an unknown type f32. For a type without SPECs it is "(no SPEC)". ParseSpec refuses
// this text, and the text for a type without a short name (dtype.h).
std::string SuggestSpec(const SpecHint& hint);

}  // namespace tenon::cli
