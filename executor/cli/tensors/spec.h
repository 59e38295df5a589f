// Parses a SPEC, the form in which the command line writes a tensor.
//
//   SPEC      := "(ignored)" | [TYPE "="] VALUE | TYPE "(@file.npy)"
//   TYPE      := dims and element name joined by x: "2x3xf32", "i32" (a scalar),
//                "2x2" (the element type of the graph)
//   VALUE     := "@file.npy" | "@all.npz[key]" | "@raw.bin" | generator | elements
//   generator := zeros | ones | iota[(start=,step=)] | random[(seed=,lo=,hi=)]
//                | normal[(seed=,mean=,std=)]
//   elements  := numbers, true/false or "strings", separated by blanks or commas,
//                with or without brackets around each dimension; nothing at all
//                only if TYPE has a dimension of 0
//
// Blanks around the SPEC and around VALUE do not count. NumPy's names of types are known too:
// "float32" for "f32".
//
// A file is an array, with a type and a shape of its own, if the SPEC names a key, if the file's
// name ends in .npy or .npz, or if the file begins as NumPy's files do. Any other file that exists
// is raw: the elements' bytes in row-major order, little-endian, and nothing else. A .npz archive
// needs a key.
//
// TYPE "(@file.npy)", of an array, "(@all.npz[key])" too, converts the array to the element type,
// which TYPE must name. No other form converts.
//
// The element type is the first of these that is known: that of TYPE; that of the graph; that of an
// array's file; string for elements in quotes, f32 for others. A raw file and a generator need one
// of the first two.
//
// With a TYPE the shape is that of TYPE, without dims a scalar:
//   array           must have this shape; but a TYPE without dims says nothing of it
//   raw file        has exactly the bytes of this shape
//   generator       fills it
//   elements        fill it in row-major order; a single one fills all of it. Brackets within
//                   brackets must spell this shape
// Without a TYPE:
//   array           has its own shape
//   raw file        is an error
//   generator       takes the shape of the graph, which must be fully known
//   elements        in brackets have the shape that the brackets spell. Without brackets, a single
//                   one takes the shape of the graph if that is fully known, else it is a scalar;
//                   others take the shape of the graph if that is fully known and has as many
//                   elements, else they make one dimension
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
// `hint`. If the SPEC names no element type, an array of another type than hint.dtype is an error,
// and so is every SPEC if HasSpecs(hint.dtype) is false. Nothing else compares the tensor with
// `hint`. Reads files. An error exits with kUsage, or with kInvalidInput if it is about a file: one
// that cannot be read, or has another type, shape or size. "(ignored)" is no tensor: the caller
// asks IsIgnoredSpec first.
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
