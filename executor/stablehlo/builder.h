// Writes the ops of one StableHLO program, line by line. Each function writes one op, or the few
// that it says, and returns its result with its type and shape. Private to executor/stablehlo/.
//
// Operands must have the shapes and types that the op wants; others are a fault of the caller.
// ChloBinary, Binary, Compare, Select (but for the type of `p`), Complex, Reshape and Broadcast
// look at them, and make status() INTERNAL. Concat does so without a part. The other functions do
// not look. An operand without a value also makes status() INTERNAL where a line with it is
// written. Text is written after an error too, but for Concat of none or several parts, which then
// returns no value. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/stablehlo/text.h"
#include "executor/stablehlo/trace.h"
#include "graph/ir/graph.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace tenon::stablehlo {

// A value of the program: "%7", "%7#1", "%arg0" or "%w0".
struct Value {
  enum class Kind : uint8_t { kNone, kOp, kArgument, kWeight };
  Kind kind = Kind::kNone;
  int32_t id = 0;
  int32_t result = -1;  // of an op with several results
  DataType dtype = DataType::kInvalid;
  Shape shape;

  explicit operator bool() const { return kind != Kind::kNone; }
  int rank() const { return shape.rank(); }
};
using Values = std::vector<Value>;
using Ints = absl::InlinedVector<int64_t, 6>;
using IntSpan = absl::Span<const int64_t>;

// Text with the node of each line.
struct Lines {
  std::string text;
  std::vector<NodeId> nodes;
};

// What windows slide by; each list has an entry for each dimension of the operand.
struct Window {
  Ints size, stride, low, high;
  Ints base_dilation;  // empty: 1
};

// The dimensions of a convolution, as StableHLO names them.
struct ConvDims {
  std::string text;                     // "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
  int64_t batch = 0, result_batch = 0;  // the axes "b" of the operand and of the result
  Ints stride, low, high, lhs_dilation, rhs_dilation;
  int64_t feature_groups = 1, batch_groups = 1;
};

struct GatherDims {
  Ints offset_dims, collapsed_slice_dims, start_index_map, slice_sizes;
  int64_t index_vector_dim = 0;
};

struct ScatterDims {
  Ints update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  int64_t index_vector_dim = 0;
  bool unique = false;
};

class Builder {
 public:
  // `precision`: "HIGHEST" or "DEFAULT", of products; its text must outlive the builder.
  Builder(std::string_view precision, bool node_names)
      : precision_(precision), node_names_(node_names) {}

  // The lines that follow belong to this node of the graph. `name` is for a comment.
  void SetNode(NodeId n, std::string_view name);
  const absl::Status& status() const { return status_; }
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  // Notes each op that is written from now on in `trace`, too, also an op of text that is thrown
  // away. `trace` must outlive the builder.
  void set_trace(Trace* trace) { trace_ = trace; }
  static TracedValue Traced(const Value& v);
  // Takes what has been written so far.
  Lines Take() { return std::exchange(out_, Lines()); }
  // Of the text that Take would return: within InRegion, that of the region alone.
  size_t bytes() const { return out_.text.size(); }

  // --- Constants.
  Value Full(DataType dtype, const Shape& shape, double value);
  Value FullInt(DataType dtype, const Shape& shape, int64_t value);
  Value Scalar(DataType dtype, double value) { return Full(dtype, Shape(), value); }
  Value ScalarInt(DataType dtype, int64_t value) { return FullInt(dtype, Shape(), value); }
  // A constant of x's type and shape.
  Value Like(const Value& x, double value) { return Full(x.dtype, x.shape, value); }
  // The least and the greatest value of the type: infinities of floats. Not of complex types.
  Value Lowest(DataType dtype, const Shape& shape) { return Extreme(dtype, shape, true); }
  Value Highest(DataType dtype, const Shape& shape) { return Extreme(dtype, shape, false); }
  Value Constant(const Tensor& tensor);  // in host memory
  // An integer vector.
  Value Vector(DataType dtype, IntSpan values);

  // --- Element by element. Operands of Binary, Compare and Select have one shape; `p` of Select
  // may be a scalar instead.
  Value Unary(std::string_view op, const Value& x);  // "tanh"
  Value Chlo(std::string_view op, const Value& x);   // "erf"
  Value ChloBinary(std::string_view op, const Value& x, const Value& y);
  Value Binary(std::string_view op, const Value& x, const Value& y);  // "add"
  Value Add(const Value& x, const Value& y) { return Binary("add", x, y); }
  Value Sub(const Value& x, const Value& y) { return Binary("subtract", x, y); }
  Value Mul(const Value& x, const Value& y) { return Binary("multiply", x, y); }
  Value Div(const Value& x, const Value& y) { return Binary("divide", x, y); }
  Value Max(const Value& x, const Value& y) { return Binary("maximum", x, y); }
  Value Min(const Value& x, const Value& y) { return Binary("minimum", x, y); }
  Value And(const Value& x, const Value& y) { return Binary("and", x, y); }
  Value Or(const Value& x, const Value& y) { return Binary("or", x, y); }
  Value Not(const Value& x) { return Unary("not", x); }
  Value Neg(const Value& x) { return Unary("negate", x); }
  // With a number for the second operand.
  Value Add(const Value& x, double y) { return Add(x, Like(x, y)); }
  Value Sub(const Value& x, double y) { return Sub(x, Like(x, y)); }
  Value Mul(const Value& x, double y) { return Mul(x, Like(x, y)); }
  Value Div(const Value& x, double y) { return Div(x, Like(x, y)); }
  Value Max(const Value& x, double y) { return Max(x, Like(x, y)); }
  Value Min(const Value& x, double y) { return Min(x, Like(x, y)); }
  // `direction`: EQ NE GE GT LE LT. Of floats every comparison with NaN is false, but NE is true.
  // With `total` floats stand in the total order of IEEE 754: -0 is below 0, a NaN without a sign
  // bit is above all numbers, and one with a sign bit below all.
  Value Compare(std::string_view direction, const Value& x, const Value& y, bool total = false);
  Value Compare(std::string_view direction, const Value& x, double y) {
    return Compare(direction, x, Like(x, y));
  }
  Value Select(const Value& p, const Value& x, const Value& y);
  Value Convert(const Value& x, DataType dtype);  // x itself if it has the type
  // x itself if it has the type and the shape.
  Value Bitcast(const Value& x, DataType dtype, const Shape& shape);
  // The real part of a complex number; with `imaginary` the imaginary part.
  Value Real(const Value& x, bool imaginary = false);
  Value Complex(const Value& re, const Value& im);
  Value AbsComplex(const Value& x);
  Value IsFinite(const Value& x);
  // The conjugate of a complex number; x itself if it is real.
  Value Conj(const Value& x);
  // Half and bfloat16 as float, in which TensorFlow sums them; others as they are.
  Value Wide(const Value& x);

  // --- Shapes.
  Value Reshape(const Value& x, const Shape& shape);  // x itself if it has the shape
  // dims[i] is the axis of the result for axis i of x.
  Value Broadcast(const Value& x, const Shape& shape, IntSpan dims);
  // By NumPy's rules: axes of x are the last of the result. x itself if it has the shape.
  Value BroadcastTo(const Value& x, const Shape& shape);
  // The next four write nothing, and return x or the only part, for a sorted `perm`, no `dims`, one
  // part, and a slice that is all of x. Concat needs a part. Strides of Slice are positive; no
  // strides are 1.
  Value Transpose(const Value& x, IntSpan perm);
  Value Reverse(const Value& x, IntSpan dims);
  Value Concat(absl::Span<const Value> parts, int64_t axis);
  Value Slice(const Value& x, IntSpan begin, IntSpan limit, IntSpan stride = {});
  // The elements [begin, limit) of one axis.
  Value SliceAxis(const Value& x, int axis, int64_t begin, int64_t limit);
  // Starts are scalars of one integer type; they are clamped. Of a scalar x the results are x and
  // `update`.
  Value DynamicSlice(const Value& x, absl::Span<const Value> starts, IntSpan sizes);
  Value DynamicUpdate(const Value& x, const Value& update, absl::Span<const Value> starts);
  // x itself if nothing is added or cut off. No `interior` is 0.
  Value Pad(const Value& x, const Value& filler, IntSpan low, IntSpan high, IntSpan interior = {});
  Value Iota(DataType dtype, const Shape& shape, int64_t dim);

  // --- Many to one. `op` combines two scalars: "add", "maximum". Without `dims` Reduce returns x.
  Value Reduce(std::string_view op, const Value& x, const Value& init, IntSpan dims);
  // A region gets two scalars for each operand. That of ReduceMany gets first all of the one side,
  // then all of the other; that of Sort gets both of the first operand, then both of the next.
  using Region = absl::FunctionRef<Values(absl::Span<const Value>)>;
  Values ReduceMany(absl::Span<const Value> operands, absl::Span<const Value> inits, IntSpan dims,
                    Region region);
  Value ReduceWindow(std::string_view op, const Value& x, const Value& init, const Window& window);
  // `init`, plus each element of `source` at the place that `select` (GE, LE) chooses in its window
  // of x.
  Value SelectAndScatter(std::string_view select, const Value& x, const Value& source,
                         const Value& init, const Window& window);
  // Elements of which neither is less keep their order.
  Values Sort(absl::Span<const Value> operands, int64_t dim, Region less);

  // --- Products. `dtype`: of the result, which may be wider.
  Value Dot(const Value& x, const Value& y, IntSpan batch_x, IntSpan batch_y, IntSpan sum_x,
            IntSpan sum_y, DataType dtype);
  Value Conv(const Value& x, const Value& filter, const ConvDims& dims, const Shape& shape);
  Value Cholesky(const Value& x);
  // Solves a * result = b for triangular matrices; `transpose` of a as StableHLO names it.
  Value TriangularSolve(const Value& a, const Value& b, bool lower, std::string_view transpose);
  // `type`: FFT, IFFT, RFFT, IRFFT, over the last axes.
  Value Fft(std::string_view type, const Value& x, IntSpan length, DataType dtype,
            const Shape& shape);
  Value Gather(const Value& x, const Value& indices, const GatherDims& dims, const Shape& shape);
  // `op` as in Reduce; empty: the update replaces the element; "GT" and "LT": the element stays
  // where it is greater (less) than the update, so that what follows a NaN replaces it.
  Value Scatter(std::string_view op, const Value& x, const Value& indices, const Value& updates,
                const ScatterDims& dims);

  // --- Regions. A region's body is written by InRegion, whose text then goes into an op.
  // Values of the program outside may be read in the region.
  Lines InRegion(absl::FunctionRef<void()> write);
  void Return(absl::Span<const Value> values);
  // Names for the values that enter a region.
  Value BlockArgument(DataType dtype, const Shape& shape);
  Values While(absl::Span<const Value> init, absl::Span<const Value> carried, Lines cond,
               Lines body);
  // `op`: "if" or "case". `shapes` gives types and shapes of the results.
  Values Branch(std::string_view op, const Value& selector, std::vector<Lines> branches,
                absl::Span<const Value> shapes);

  // --- Reads of parameters.
  static Value Argument(int32_t index, DataType dtype, const Shape& shape);
  static Value Weight(int32_t index, DataType dtype, const Shape& shape);

  // Whether text that was written, also text that was thrown away, reads this argument.
  bool ReadsArgument(size_t index) const {
    return index < read_arguments_.size() && read_arguments_[index];
  }

  void AppendName(const Value& v);
  void AppendType(const Value& v) { stablehlo::AppendType(v.dtype, v.shape, &out_.text); }
  // Text that belongs to no op: the ends of functions.
  void Line(std::string_view text);

 private:
  Value New(DataType dtype, const Shape& shape);
  // "%7 = "
  Value Begin(DataType dtype, const Shape& shape);
  // A line up to the operand's type, with a result of this type.
  Value BeginUnary(std::string_view op, const Value& x);
  void End();
  // Notes the op of this line.
  void Note(OpKind kind, std::string_view what, absl::Span<const Value> operands,
            absl::Span<const Value> results, std::initializer_list<IntSpan> numbers = {});
  void Text(std::string_view text) { out_.text.append(text); }
  void Names(absl::Span<const Value> values);
  void Types(absl::Span<const Value> values);
  // "(T, T2) -> U" at the end of the line.
  void EndTyped(absl::Span<const Value> operands, absl::Span<const Value> results);
  Value Extreme(DataType dtype, const Shape& shape, bool lowest);
  Value Splat(DataType dtype, const Shape& shape, std::string_view number);
  Values BeginMany(absl::Span<const Value> types);
  // "^bb0(...):", the body by `region`, and its return.
  void Block(absl::Span<const Value> arguments, Region region);
  void BinaryBlock(std::string_view op, DataType dtype);
  void Check(bool fits, std::string_view op);
  void Append(const Lines& lines);
  void WindowAttrs(const Window& window, bool padding);

  std::string_view precision_;
  bool node_names_;
  absl::Status status_;
  Lines out_;
  int32_t next_ = 0;
  int depth_ = 2;
  NodeId node_ = kNoNode;
  std::vector<bool> read_arguments_;
  std::string comment_;  // of the next line that ends
  Trace* trace_ = nullptr;
};

}  // namespace tenon::stablehlo
