// Rows moved by number: DynamicPartition, DynamicStitch, Roll, ReverseSequence.
#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct PartitionState {
  int64_t rows = 0, row_elements = 1, parts = 0;
  DataType type;
  Shape row_shape;
};

absl::Status RunPartition(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const PartitionState*>(state);
  const int32_t* to = static_cast<const int32_t*>(args.in[1]);
  // Two passes: the outputs are as long as the counts, which must be known before they are
  // allocated. The first pass also checks every index, so that the second cannot write outside.
  std::vector<int64_t> counts(s.parts, 0), filled(s.parts, 0);
  for (int64_t i = 0; i < s.rows; ++i) {
    if (to[i] < 0 || to[i] >= s.parts) {
      return absl::InvalidArgumentError(
          absl::StrCat("partitions[", i, "] = ", to[i], " is not in [0, ", s.parts, ")"));
    }
    ++counts[to[i]];
  }
  std::vector<void*> out(s.parts);
  for (int64_t k = 0; k < s.parts; ++k) {
    const Shape shape(Stacked(counts[k], s.row_shape));
    TENON_ASSIGN_OR_RETURN(out[k], args.run_state->AllocateOutput(static_cast<int>(k), shape));
  }
  const ElementCopy copy(s.type);
  for (int64_t i = 0; i < s.rows; ++i) {
    copy(args.in[0], i * s.row_elements, out[to[i]], filled[to[i]]++ * s.row_elements,
         s.row_elements);
  }
  return absl::OkStatus();
}

absl::Status PreparePartition(Prepare& p) {
  const Shape& data = p.input_shape(0);
  const Shape& partitions = p.input_shape(1);
  for (int d = 0; d < partitions.rank(); ++d) {
    if (d >= data.rank() || data.dim(d) != partitions.dim(d)) {
      return p.Invalid("the data's shape must start with that of the partitions");
    }
  }
  auto s = std::make_shared<PartitionState>();
  s->rows = partitions.num_elements();
  s->row_elements = DimProduct(data, partitions.rank(), data.rank());
  s->parts = p.num_outputs();
  s->type = p.input_type(0);
  for (int d = partitions.rank(); d < data.rank(); ++d) s->row_shape.push_back(data.dim(d));
  for (int k = 0; k < p.num_outputs(); ++k) p.set_dynamic_output(k);
  p.set_run(&RunPartition, std::move(s));
  return absl::OkStatus();
}

struct StitchState {
  std::vector<int64_t> rows;  // of each pair of indices and data
  int64_t row_elements = 1;
  DataType type;
  Shape row_shape;
};

absl::Status RunStitch(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const StitchState*>(state);
  const int pairs = static_cast<int>(s.rows.size());
  int64_t last = -1;
  for (int k = 0; k < pairs; ++k) {
    for (int64_t i = 0; i < s.rows[k]; ++i) {
      const int64_t at = static_cast<const int32_t*>(args.in[k])[i];
      if (at < 0)
        return absl::InvalidArgumentError(absl::StrCat("indices[", k, "] holds the negative ", at));
      last = std::max(last, at);
    }
  }
  TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(Stacked(last + 1, s.row_shape)));
  TENON_ASSIGN_OR_RETURN(void* out, args.run_state->AllocateOutput(0, shape));
  // Rows that no index names are undefined in TensorFlow; here they are zero.
  const ElementCopy copy(s.type);
  copy.Zero(out, 0, shape.num_elements());
  for (int k = 0; k < pairs; ++k) {
    for (int64_t i = 0; i < s.rows[k]; ++i) {
      // Of rows with one index the last in the order of inputs stays, as TensorFlow promises for
      // DynamicStitch. ParallelDynamicStitch, which promises no order, is served by the same loop.
      const int64_t at = static_cast<const int32_t*>(args.in[k])[i];
      copy(args.in[pairs + k], i * s.row_elements, out, at * s.row_elements, s.row_elements);
    }
  }
  return absl::OkStatus();
}

absl::Status PrepareStitch(Prepare& p) {
  const int pairs = p.num_inputs() / 2;
  auto s = std::make_shared<StitchState>();
  s->type = p.output_type(0);
  for (int k = 0; k < pairs; ++k) {
    const Shape& indices = p.input_shape(k);
    const Shape& data = p.input_shape(pairs + k);
    Shape row;
    for (int d = 0; d < data.rank(); ++d) {
      if (d >= indices.rank()) row.push_back(data.dim(d));
      if (d < indices.rank() && data.dim(d) != indices.dim(d))
        return p.Invalid(absl::StrCat("data[", k, "] must start with the shape of its indices"));
    }
    if (data.rank() < indices.rank())
      return p.Invalid(absl::StrCat("data[", k, "] must start with the shape of its indices"));
    if (k > 0 && !(row == s->row_shape))
      return p.Invalid("the rows of all data must have one shape");
    s->row_shape = row;
    s->rows.push_back(indices.num_elements());
  }
  s->row_elements = s->row_shape.num_elements();
  p.set_dynamic_output(0);
  p.set_run(&RunStitch, std::move(s));
  return absl::OkStatus();
}

struct RollState {
  Shape shape;
  DataType type, shift_type, axis_type;
  int64_t shifts = 0;
};

absl::Status RunRoll(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const RollState*>(state);
  const int rank = s.shape.rank();
  Dims shift(rank, 0);
  for (int64_t i = 0; i < s.shifts; ++i) {
    int64_t axis = LoadIndex(args.in[2], s.axis_type, i);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank)
      return absl::InvalidArgumentError(absl::StrCat("axis ", axis, " is out of range"));
    const int64_t n = std::max<int64_t>(s.shape.dim(static_cast<int>(axis)), 1);
    // Shifts of one axis that is named twice add up. The sum is reduced to [0, n) at each step, so
    // it cannot overflow.
    shift[axis] = ((shift[axis] + LoadIndex(args.in[1], s.shift_type, i) % n) % n + n) % n;
  }
  // Behind the last dimension that moves, elements stay neighbours.
  int last = rank - 1;
  while (last > 0 && shift[last] == 0) --last;
  const int64_t run = rank == 0 ? 1 : DimProduct(s.shape, last + 1, rank);
  const int64_t lines = rank == 0 ? 1 : DimProduct(s.shape, 0, last + 1);
  const ElementCopy copy(s.type);
  for (int64_t i = 0; i < lines && run > 0; ++i) {
    int64_t rest = i, to = 0, stride = 1;
    for (int d = last; d >= 0; --d) {
      const int64_t n = s.shape.dim(d);
      to += (rest % n + shift[d]) % n * stride;
      rest /= n;
      stride *= n;
    }
    copy(args.in[0], i * run, args.out[0], to * run, run);
  }
  return absl::OkStatus();
}

absl::Status PrepareRoll(Prepare& p) {
  if (p.input_shape(0).rank() < 1) return p.Invalid("the tensor must have at least one dimension");
  if (p.input_shape(1).rank() > 1 || !(p.input_shape(1) == p.input_shape(2)))
    return p.Invalid("'shift' and 'axis' must be scalars or vectors of one length");
  p.set_output_shape(0, p.input_shape(0));
  p.set_run(&RunRoll, std::make_shared<RollState>(RollState{p.input_shape(0), p.input_type(0),
                                                            p.input_type(1), p.input_type(2),
                                                            p.input_shape(1).num_elements()}));
  return absl::OkStatus();
}

struct ReverseSequenceState {
  Shape shape;
  int seq = 0, batch = 0;
  DataType type, length_type;
};

absl::Status RunReverseSequence(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ReverseSequenceState*>(state);
  for (int64_t b = 0; b < s.shape.dim(s.batch); ++b) {
    const int64_t length = LoadIndex(args.in[1], s.length_type, b);
    if (length < 0 || length > s.shape.dim(s.seq)) {
      return absl::InvalidArgumentError(absl::StrCat("seq_lengths[", b, "] = ", length,
                                                     " is not in [0, ", s.shape.dim(s.seq), "]"));
    }
  }
  // Behind the inner one of the two dimensions elements move together, as one run.
  const int inner_dim = std::max(s.seq, s.batch);
  const int64_t run = DimProduct(s.shape, inner_dim + 1, s.shape.rank());
  const int64_t lines = DimProduct(s.shape, 0, inner_dim + 1);
  const int64_t seq_stride = DimProduct(s.shape, s.seq + 1, inner_dim + 1);
  const int64_t batch_stride = DimProduct(s.shape, s.batch + 1, inner_dim + 1);
  const ElementCopy copy(s.type);
  for (int64_t i = 0; i < lines; ++i) {
    const int64_t at = i / seq_stride % s.shape.dim(s.seq);
    const int64_t length =
        LoadIndex(args.in[1], s.length_type, i / batch_stride % s.shape.dim(s.batch));
    // Place `at` goes to `length - 1 - at`: `length - 1 - 2 * at` places on. Behind the length all
    // stay.
    const int64_t to = at < length ? i + (length - 1 - 2 * at) * seq_stride : i;
    copy(args.in[0], i * run, args.out[0], to * run, run);
  }
  return absl::OkStatus();
}

absl::Status PrepareReverseSequence(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t seq, p.AttrInt("seq_dim"));
  TENON_ASSIGN_OR_RETURN(const int64_t batch, p.AttrInt("batch_dim"));
  if (seq < 0 || seq >= in.rank() || batch < 0 || batch >= in.rank() || seq == batch) {
    return p.Invalid(
        absl::StrCat("seq_dim ", seq, " and batch_dim ", batch, " must be two of the dimensions"));
  }
  if (p.input_shape(1).rank() != 1 || p.input_shape(1).dim(0) != in.dim(static_cast<int>(batch))) {
    return p.Invalid("there must be one length per batch entry");
  }
  p.set_output_shape(0, in);
  p.set_run(&RunReverseSequence, std::make_shared<ReverseSequenceState>(ReverseSequenceState{
                                     in, static_cast<int>(seq), static_cast<int>(batch),
                                     p.input_type(0), p.input_type(1)}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> StitchKernels() {
  static const CpuKernelSpec specs[] = {
      {"DynamicPartition", {{"T", kEveryType}}, PreparePartition, 0, false, false, true},
      {"DynamicStitch", {{"T", kEveryType}}, PrepareStitch},
      {"ParallelDynamicStitch", {{"T", kEveryType}}, PrepareStitch},
      {"Roll", {{"T", kEveryType}}, PrepareRoll},
      {"ReverseSequence", {{"T", kEveryType}}, PrepareReverseSequence},
  };
  return specs;
}

}  // namespace tenon::cpu
