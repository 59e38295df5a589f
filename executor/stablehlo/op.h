// A node as the function that lowers its op sees it. Private to executor/stablehlo/.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/stablehlo/builder.h"
#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"
#include "graph/tensor/tensor.h"

namespace tenon::stablehlo {

// A TensorList within a program: its elements, one behind the other, in a tensor [size, ...].
// `size` is how many there are, or room for; in a loop in which a list grows or shrinks, `count`
// is how many there are.
struct ListValue {
  DataType dtype = DataType::kInvalid;
  int64_t size = 0;
  Value elements;        // none until the shape of the elements is known
  Value count;           // a scalar of int32; none of a list that keeps its size
  PartialShape element;  // what the op that made the list says of the shape of the elements
  // Where all elements are known and equal: that element. So the shapes that the forward loop of a
  // gradient saves for the backward loop stay known.
  Tensor each;
};

// Whether both have the same type, shape and bytes of elements; false if either has no value. Not
// for strings.
bool SameElements(const Tensor& a, const Tensor& b);

// An output of a node while the program is written.
struct Entry {
  Value value;   // none until it is written
  Tensor known;  // the elements, where they are known
  TensorInfo info;
  std::shared_ptr<const ListValue> list;  // of a variant
};

// Makes the entry a constant.
void SetKnown(Entry& entry, Tensor known);

class Lowerer;
struct Frame;

class Op {
 public:
  Op(Lowerer& lowerer, Frame& frame, NodeId n, InferenceContext& shapes,
     absl::Span<Entry* const> inputs, absl::Span<Entry> outputs, Builder& builder)
      : b(builder),
        lowerer_(lowerer),
        frame_(frame),
        node_(n),
        shapes_(shapes),
        inputs_(inputs),
        outputs_(outputs) {}

  Builder& b;

  std::string_view name() const { return shapes_.op().name; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  DataType InType(int i) const { return BaseType(shapes_.input_type(i)); }
  DataType OutType(int i) const { return BaseType(shapes_.output_type(i)); }
  const Shape& InShape(int i);
  int InRank(int i) { return InShape(i).rank(); }

  // Input i as an operand. A constant is written here, in the text of the node that reads it first.
  // An input that the node lacks, or that no program can hold, makes the builder's status
  // UNIMPLEMENTED; the result is then a value of no kind. InShape does the same, with an empty
  // shape. InEntry does so for an input that the node lacks alone, with an empty entry.
  const Value& In(int i);
  // A constant of the program, as large ones are: a parameter above the request's limit.
  Value Constant(Tensor elements);
  // The elements of input i where they are known, else null.
  const Tensor* Known(int i) const;
  // The integers of input i. FAILED_PRECONDITION if they are not known.
  absl::StatusOr<Ints> IntsOf(int i) const;
  // The integer of input i. UNIMPLEMENTED if the input has not one element.
  absl::StatusOr<int64_t> IntOf(int i) const;
  // The axis that input i names in a tensor of `rank` dimensions; negative ones count from the end.
  // INVALID_ARGUMENT if there is no such axis, or if the input names one twice. UNIMPLEMENTED if
  // the input otherwise has not one element.
  absl::StatusOr<int64_t> AxisOf(int i, int rank) const;
  // The axes of input i, sorted. INVALID_ARGUMENT if there is no such axis, or if one is named
  // twice.
  absl::StatusOr<Ints> AxesOf(int i, int rank) const;
  // The shape that the op's shape function gives output i. UNIMPLEMENTED if it depends on values.
  absl::StatusOr<Shape> OutShape(int i = 0) const;

  absl::StatusOr<int64_t> Int(std::string_view attr) const { return shapes_.AttrInt(attr); }
  absl::StatusOr<bool> Bool(std::string_view attr) const { return shapes_.AttrBool(attr); }
  absl::StatusOr<float> Float(std::string_view attr) const { return shapes_.AttrFloat(attr); }
  absl::StatusOr<std::string_view> String(std::string_view attr) const {
    return shapes_.AttrString(attr);
  }
  absl::StatusOr<std::vector<int64_t>> IntList(std::string_view attr) const {
    return shapes_.AttrIntList(attr);
  }
  InferenceContext& shapes() const { return shapes_; }

  // Output i is this value. Another type or shape than the shape function allows makes the
  // builder's status INTERNAL.
  void Out(int i, Value v);
  absl::Status Out(Value v) {
    Out(0, std::move(v));
    return absl::OkStatus();
  }
  // Output i is this vector, or scalar, of integers: it is known. INVALID_ARGUMENT for a value that
  // is beyond the output's type.
  absl::Status OutInts(int i, IntSpan values, const Shape& shape);
  // Output 0 is a list.
  void OutList(ListValue list) {
    outputs_[0].list = std::make_shared<const ListValue>(std::move(list));
  }
  // Output `to` is input `from`, which the node must have. Known elements stay known, and a list
  // stays a list.
  void Forward(int to, int from);
  // Entries, for ops on lists and calls.
  Entry& OutEntry(int i) { return outputs_[i]; }
  Entry& InEntry(int i);

  // The run must fail unless `ok`, an i1 scalar, is true.
  void Check(const Value& ok, std::string_view message,
             absl::StatusCode code = absl::StatusCode::kInvalidArgument);
  // The same for all elements of an i1 tensor.
  void CheckAll(const Value& ok, std::string_view message,
                absl::StatusCode code = absl::StatusCode::kInvalidArgument);

  // UNIMPLEMENTED, naming op, types, shapes and node.
  absl::Status Unimplemented(std::string_view why) const;
  absl::Status Invalid(std::string_view why) const;

  Lowerer& lowerer() { return lowerer_; }
  Frame& frame() { return frame_; }
  NodeId node() const { return node_; }

 private:
  std::string Describe() const;

  Lowerer& lowerer_;
  Frame& frame_;
  NodeId node_;
  InferenceContext& shapes_;
  absl::Span<Entry* const> inputs_;
  absl::Span<Entry> outputs_;
  Entry missing_;  // in place of an input that the node lacks
};

}  // namespace tenon::stablehlo
