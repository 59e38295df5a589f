// Conditional accumulators of whole gradients and of rows. Those that pass their handle by
// reference differ in nothing else.
#include <map>
#include <optional>

#include "plugin/cpu/containers/accumulator.h"
#include "plugin/cpu/containers/lists/tensor_list.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/variables/writable.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::Status WrongShape(const Accumulator& accumulator, const Shape& shape,
                        std::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat("the gradient has shape ", shape.ToString(),
                                                 " where accumulator '", accumulator.name(),
                                                 "' has ", wanted));
}

class DenseAccumulator : public Accumulator {
 public:
  static constexpr std::string_view kKind = "accumulator";
  std::string_view kind() const override { return kKind; }
  using Accumulator::Accumulator;

  absl::Status Add(int64_t local_step, Tensor gradient, Workers* workers) {
    TENON_RETURN_IF_ERROR(CheckType(gradient.dtype()));
    if (!options().shape.CompatibleWith(gradient.shape()))
      return WrongShape(*this, gradient.shape(), options().shape.ToString());
    return Apply(local_step, [&]() -> absl::Status {
      if (!sum_.initialized()) {
        sum_ = std::move(gradient);
        return absl::OkStatus();
      }
      if (!(sum_.shape() == gradient.shape()))
        return WrongShape(*this, gradient.shape(), sum_.shape().ToString());
      TENON_RETURN_IF_ERROR(MakeWritable(sum_));
      return CombineInto(ElementOp::kAdd, gradient, sum_, workers);
    });
  }

  absl::StatusOr<Tensor> TakeAll(int64_t required) {
    Tensor taken;
    TENON_RETURN_IF_ERROR(Take(required, [&](int64_t count) -> absl::Status {
      if (options().mean) {
        TENON_RETURN_IF_ERROR(MakeWritable(sum_));
        DivideBy(count, sum_);
      }
      taken = std::exchange(sum_, Tensor());
      return absl::OkStatus();
    }));
    return taken;
  }

 private:
  Tensor sum_;  // guarded by Apply and Take
};

// Gradients of rows. A row is divided by the number of gradients that had this row, not by the
// number of all gradients, as in TensorFlow.
class RowAccumulator : public Accumulator {
 public:
  static constexpr std::string_view kKind = "sparse accumulator";
  std::string_view kind() const override { return kKind; }
  using Accumulator::Accumulator;

  struct Rows {
    Tensor indices, values, shape;
  };

  // `shape` is that of the whole gradient, if it is known.
  absl::Status Add(int64_t local_step, const Rows& gradient, bool has_shape, Workers* workers) {
    TENON_RETURN_IF_ERROR(CheckType(gradient.values.dtype()));
    TENON_ASSIGN_OR_RETURN(const Shape row, CheckedRow(gradient, has_shape));
    return Apply(local_step, [&]() -> absl::Status {
      if (row_.has_value() && !rows_.empty() && !(*row_ == row))
        return WrongShape(*this, gradient.values.shape(),
                          absl::StrCat("rows of shape ", row_->ToString()));
      // What may fail comes before the first change.
      TENON_ASSIGN_OR_RETURN(auto added, AddedRows(gradient, row));
      row_ = row;
      rows_.merge(added);
      for (int64_t i = 0; i < gradient.indices.num_elements(); ++i) {
        Sum& sum = rows_.at(gradient.indices.IntAt(i));
        // An added row has its first value already. All types of accumulators can be added.
        if (sum.count++ > 0) {
          TENON_RETURN_IF_ERROR(
              CombineInto(ElementOp::kAdd, RowOf(gradient.values, i, row), sum.value, workers));
        }
      }
      return absl::OkStatus();
    });
  }

  absl::StatusOr<Rows> TakeAll(int64_t required) {
    Rows taken;
    TENON_RETURN_IF_ERROR(Take(required, [&](int64_t) -> absl::Status {
      const auto count = static_cast<int64_t>(rows_.size());
      const Shape row = row_.value_or(Shape());
      TENON_ASSIGN_OR_RETURN(taken.indices, Tensor::Allocate(DataType::kInt64, Shape({count})));
      TENON_ASSIGN_OR_RETURN(const Shape all, Shape::Make(Stacked(count, row)));
      TENON_ASSIGN_OR_RETURN(taken.values, Tensor::Allocate(options().dtype, all));
      const PartialShape& declared = options().shape;
      const bool knows_rows = declared.known_rank() && declared.rank() > 0;
      const Dims dims = Stacked(knows_rows ? declared.dim(0) : kUnknownDim, row);
      taken.shape =
          Tensor::Of<int64_t>(DataType::kInt64, dims, Shape({static_cast<int64_t>(dims.size())}));
      const ElementCopy copy(options().dtype);
      int64_t i = 0;
      for (const auto& [index, sum] : rows_) {
        if (options().mean) DivideBy(sum.count, sum.value);
        taken.indices.flat<int64_t>()[i] = index;
        copy(sum.value.data(), 0, taken.values.data(), i++ * row.num_elements(),
             row.num_elements());
      }
      rows_.clear();
      return absl::OkStatus();
    }));
    return taken;
  }

 private:
  struct Sum {
    int64_t count = 0;
    Tensor value;
  };

  // The gradient's rows that are not there yet, each with the first of its values and count 0.
  absl::StatusOr<std::map<int64_t, Sum>> AddedRows(const Rows& gradient, const Shape& row) const {
    std::map<int64_t, Sum> added;
    for (int64_t i = 0; i < gradient.indices.num_elements(); ++i) {
      const int64_t index = gradient.indices.IntAt(i);
      if (rows_.contains(index) || added.contains(index)) continue;
      TENON_ASSIGN_OR_RETURN(added[index].value, RowOf(gradient.values, i, row).Copy());
    }
    return added;
  }

  // The shape of a row of the gradient.
  absl::StatusOr<Shape> CheckedRow(const Rows& gradient, bool has_shape) const {
    const Shape &values = gradient.values.shape(), &indices = gradient.indices.shape();
    if (values.rank() < 1 || indices.rank() != 1 || indices.dim(0) != values.dim(0)) {
      return absl::InvalidArgumentError(absl::StrCat("the gradient has indices of shape ",
                                                     indices.ToString(), " and values of shape ",
                                                     values.ToString()));
    }
    Dims dims(values.dims().begin(), values.dims().end());
    dims[0] = kUnknownDim;
    if (has_shape && gradient.shape.num_elements() > 0) {
      dims.clear();
      for (int64_t d = 0; d < gradient.shape.num_elements(); ++d)
        dims.push_back(gradient.shape.IntAt(d));
    }
    TENON_ASSIGN_OR_RETURN(const PartialShape whole, PartialShape::Make(dims));
    if (!options().shape.CompatibleWith(whole))
      return absl::InvalidArgumentError(absl::StrCat("the gradient is one of shape ",
                                                     whole.ToString(), ", accumulator '", name(),
                                                     "' is for ", options().shape.ToString()));
    Shape row = RowShape(values);
    for (int d = 0; d < row.rank(); ++d) {
      if (whole.rank() != values.rank() ||
          (whole.dim(d + 1) != kUnknownDim && whole.dim(d + 1) != row.dim(d)))
        return absl::InvalidArgumentError(absl::StrCat("values of shape ", values.ToString(),
                                                       " are no rows of a gradient of shape ",
                                                       whole.ToString()));
    }
    for (int64_t i = 0; i < gradient.indices.num_elements(); ++i) {
      const int64_t index = gradient.indices.IntAt(i);
      if (index < 0 || (whole.dim(0) != kUnknownDim && index >= whole.dim(0)))
        return absl::InvalidArgumentError(absl::StrCat(
            "indices[", i, "] is ", index, ", the gradient has shape ", whole.ToString()));
    }
    return row;
  }

  // Guarded by Apply and Take.
  std::optional<Shape> row_;
  // Ordered, as the indices of the result rise.
  std::map<int64_t, Sum> rows_;
};

template <typename T>
absl::Status PrepareAccumulator(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Accumulator::Options options, Accumulator::OptionsOf(p));
  TENON_ASSIGN_OR_RETURN(ObjectRef<T> accumulator, SharedResource<T>(p, [&](std::string_view name) {
                           return ObjectRef<T>::Make(name, options);
                         }));
  if (accumulator->options().dtype != options.dtype) {
    return p.Invalid(absl::StrCat("there is an accumulator '", accumulator->name(), "' of ",
                                  DataTypeName(accumulator->options().dtype)));
  }
  return SetHandle(p, ObjectRef<Object>::Adopt(accumulator.release()));
}

// Of either kind.
absl::StatusOr<Accumulator*> AnyAccumulator(const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Object * object, ObjectInput(args, 0));
  if (auto* rows = ObjectAs<RowAccumulator>(object)) return rows;
  return InputAs<DenseAccumulator>(args, 0);
}

absl::Status RunApply(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(DenseAccumulator * accumulator, InputAs<DenseAccumulator>(args, 0));
  TENON_ASSIGN_OR_RETURN(const int64_t local_step, IntInput(args, 1));
  TENON_ASSIGN_OR_RETURN(Tensor gradient, args.run_state->TakeInput(2));
  return accumulator->Add(local_step, std::move(gradient), args.workers);
}

absl::Status RunTakeGradient(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(DenseAccumulator * accumulator, InputAs<DenseAccumulator>(args, 0));
  TENON_ASSIGN_OR_RETURN(const int64_t required, IntInput(args, 1));
  TENON_RETURN_IF_ERROR(accumulator->CheckType(static_cast<const NodeFacts*>(state)->outputs[0]));
  TENON_ASSIGN_OR_RETURN(Tensor taken, accumulator->TakeAll(required));
  args.run_state->SetOutput(0, std::move(taken));
  return absl::OkStatus();
}

struct RowState : NodeFacts {
  explicit RowState(const Prepare& p)
      : NodeFacts(p), has_shape(p.AttrBool("has_known_shape").value_or(false)) {}
  bool has_shape;
};

absl::Status RunApplyRows(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(RowAccumulator * accumulator, InputAs<RowAccumulator>(args, 0));
  TENON_ASSIGN_OR_RETURN(const int64_t local_step, IntInput(args, 1));
  const auto input = [&](int i) { return args.run_state->Input(i); };
  return accumulator->Add(local_step, {input(2), input(3), input(4)},
                          static_cast<const RowState*>(state)->has_shape, args.workers);
}

absl::Status RunTakeRows(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(RowAccumulator * accumulator, InputAs<RowAccumulator>(args, 0));
  TENON_ASSIGN_OR_RETURN(const int64_t required, IntInput(args, 1));
  TENON_RETURN_IF_ERROR(accumulator->CheckType(static_cast<const NodeFacts*>(state)->outputs[1]));
  TENON_ASSIGN_OR_RETURN(RowAccumulator::Rows taken, accumulator->TakeAll(required));
  args.run_state->SetOutput(0, std::move(taken.indices));
  args.run_state->SetOutput(1, std::move(taken.values));
  args.run_state->SetOutput(2, std::move(taken.shape));
  return absl::OkStatus();
}

absl::Status RunCount(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Accumulator * accumulator, AnyAccumulator(args));
  *static_cast<int32_t*>(args.out[0]) = static_cast<int32_t>(accumulator->count());
  return absl::OkStatus();
}

absl::Status RunSetGlobalStep(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Accumulator * accumulator, AnyAccumulator(args));
  TENON_ASSIGN_OR_RETURN(const int64_t step, IntInput(args, 1));
  accumulator->SetGlobalStep(step);
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> AccumulatorKernels() {
  constexpr auto kTypes = kAccumulatorTypes;
  static const CpuKernelSpec specs[] = {
      {"ConditionalAccumulator",
       {{"dtype", kTypes}},
       PrepareAccumulator<DenseAccumulator>,
       0,
       true},
      {"ResourceConditionalAccumulator",
       {{"dtype", kTypes}},
       PrepareAccumulator<DenseAccumulator>,
       0,
       true},
      {"SparseConditionalAccumulator",
       {{"dtype", kTypes}},
       PrepareAccumulator<RowAccumulator>,
       0,
       true},
      WholeTensorKernel("AccumulatorApplyGradient", "dtype", kTypes, PrepareWhole<&RunApply>),
      WholeTensorKernel("ResourceAccumulatorApplyGradient", "dtype", kTypes,
                        PrepareWhole<&RunApply>),
      WholeTensorKernel("SparseAccumulatorApplyGradient", "dtype", kTypes,
                        PrepareWhole<&RunApplyRows, RowState>),
      WholeTensorKernel("AccumulatorTakeGradient", "dtype", kTypes, PrepareWhole<&RunTakeGradient>),
      WholeTensorKernel("ResourceAccumulatorTakeGradient", "dtype", kTypes,
                        PrepareWhole<&RunTakeGradient>),
      WholeTensorKernel("SparseAccumulatorTakeGradient", "dtype", kTypes,
                        PrepareWhole<&RunTakeRows>),
      WholeTensorKernel("AccumulatorNumAccumulated", PrepareScalar<&RunCount>),
      WholeTensorKernel("ResourceAccumulatorNumAccumulated", PrepareScalar<&RunCount>),
      WholeTensorKernel("AccumulatorSetGlobalStep", PrepareWhole<&RunSetGlobalStep>),
      WholeTensorKernel("ResourceAccumulatorSetGlobalStep", PrepareWhole<&RunSetGlobalStep>),
  };
  return specs;
}

}  // namespace tenon::cpu
