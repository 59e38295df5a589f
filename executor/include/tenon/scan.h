// Loops over the first dimension of tensors: one node of a trace, plain C++ outside of one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/internal/function_ref.h"
#include "tenon/loops.h"

namespace tenon::inline v0 {
namespace internal {

// A scalar of type kInt32: the length of the first dimension.
inline Tensor LengthOf(const Tensor& tensor, Where where) {
  return SliceOf(Op("Shape", where).Input(tensor).RunOne(), std::vector<Index>{Index(0)}, where);
}

// Calls `step(i, carries)` for each i below `count`, a scalar of type kInt32. The step gives the
// next carries, and a tensor for each of `elements`, which has its type and shape: these tensors
// are stacked. In a trace they lie in a TensorList, so that gradients go through it. Without steps
// the stacked tensors have no elements. Lengths that `elements` leaves open are then 0, but in a
// trace the run fails with INVALID_ARGUMENT.
struct Stepped {
  std::vector<Tensor> carries, stacked;
};
inline Stepped RunSteps(const Tensor& count, std::vector<Tensor> carries,
                        FunctionRef<std::pair<std::vector<Tensor>, std::vector<Tensor>>(
                            const Tensor&, const std::vector<Tensor>&)>
                            step,
                        const std::vector<std::pair<DType, Shape>>& elements, Where where) {
  Stepped result;
  if (scopes.trace == nullptr) {
    const int32_t n = count.item<int32_t>(where);
    std::vector<std::vector<Tensor>> parts(elements.size());
    for (int32_t i = 0; i < n; ++i) {
      auto [next, outputs] = step(Tensor(i), carries);
      carries = std::move(next);
      for (size_t k = 0; k < parts.size(); ++k) parts[k].push_back(outputs[k]);
    }
    result.carries = std::move(carries);
    for (size_t k = 0; k < parts.size(); ++k) {
      if (n > 0) {
        result.stacked.push_back(Op("Pack", where).Input(parts[k]).RunOne());
        continue;
      }
      std::vector<int64_t> dims = elements[k].second.dims();
      for (int64_t& dim : dims) dim = std::max<int64_t>(dim, 0);
      dims.insert(dims.begin(), 0);
      result.stacked.push_back(Tensor::FromHost(
          AllocateTensor(elements[k].first, dims.data(), static_cast<int>(dims.size()))));
    }
    return result;
  }
  std::vector<Tensor> variables = {Tensor(int32_t{0})};
  const size_t carry_count = carries.size();
  variables.insert(variables.end(), carries.begin(), carries.end());
  std::vector<Tensor> shapes;
  for (const auto& [dtype, shape] : elements) {
    // A shape with unknown lengths is an element_shape as well; of unknown rank it is -1.
    std::vector<int32_t> dims(shape.dims().begin(), shape.dims().end());
    shapes.push_back(shape.has_rank()
                         ? Tensor::Of<int32_t>(Shape{static_cast<int64_t>(dims.size())}, dims)
                         : Tensor(int32_t{-1}));
    variables.push_back(Op("TensorListReserve", where)
                            .Input(shapes.back())
                            .Input(count)
                            .Attr("element_dtype", dtype)
                            .RunOne());
  }
  const std::vector<Tensor> end = LoopInTrace(
      [&](const std::vector<Tensor>& in) {
        return Op("Less", where).Input(in[0]).Input(count).RunOne();
      },
      [&](const std::vector<Tensor>& in) {
        const std::vector<Tensor> now(in.begin() + 1,
                                      in.begin() + 1 + static_cast<ptrdiff_t>(carry_count));
        auto [next, outputs] = step(in[0], now);
        std::vector<Tensor> after = {Op("AddV2", where).Input(in[0]).Input(Tensor(1)).RunOne()};
        after.insert(after.end(), next.begin(), next.end());
        for (size_t k = 0; k < outputs.size(); ++k) {
          after.push_back(Op("TensorListSetItem", where)
                              .Input(in[1 + carry_count + k])
                              .Input(in[0])
                              .Input(outputs[k])
                              .Attr("element_dtype", elements[k].first)
                              .RunOne());
        }
        return after;
      },
      variables, where);
  result.carries.assign(end.begin() + 1, end.begin() + 1 + static_cast<ptrdiff_t>(carry_count));
  for (size_t k = 0; k < elements.size(); ++k) {
    result.stacked.push_back(Op("TensorListStack", where)
                                 .Input(end[1 + carry_count + k])
                                 .Input(shapes[k])
                                 .Attr("element_dtype", elements[k].first)
                                 .RunOne());
  }
  return result;
}

// Types and shapes of what `step(i)` gives, found by a trace that is thrown away.
template <typename Step>
std::vector<std::pair<DType, Shape>> ElementsOf(const Step& step, Where where) {
  const std::lock_guard lock(TraceMutex());
  const auto graph = std::make_shared<TraceGraph>(scopes.trace);
  const TraceUse use(graph);
  const TraceScope scope(graph.get(), scopes.device);
  const Tensor i = graph->AddInput(DType::kInt32, Shape{}, "i", where);
  std::vector<std::pair<DType, Shape>> elements;
  for (const Tensor& output : step(i)) elements.emplace_back(output.dtype(), output.shape());
  return elements;
}

inline Tensor ElementOf(const Tensor& tensor, const Tensor& i, Where where) {
  return Op("GatherV2", where).Input(tensor).Input(i).Input(Tensor(int32_t{0})).RunOne();
}

template <typename T>
T ElementsAt(T structure, const Tensor& i, Where where) {
  struct Take : Visitor {
    const Tensor& i;
    Where where;
    void OnTensor(Tensor& tensor) { tensor = ElementOf(tensor, i, where); }
  } take{{}, i, where};
  Walk(structure, take);
  return structure;
}

// The tensors of a structure in order.
struct Gather : Visitor {
  std::vector<Tensor> tensors;
  void OnTensor(const Tensor& tensor) { tensors.push_back(tensor); }
};
template <typename T>
std::vector<Tensor> TensorsOf(const T& structure) {
  Gather gather;
  Walk(structure, gather);
  return std::move(gather.tensors);
}
template <typename T>
T WithTensors(T structure, const std::vector<Tensor>& tensors) {
  ReplaceTensors replace(tensors);
  Walk(structure, replace);
  return structure;
}

template <typename T>
using AsStructure = std::conditional_t<std::is_convertible_v<T, Tensor>, Tensor, std::decay_t<T>>;

template <typename Xs>
Tensor CommonLength(const Xs& xs, Where where) {
  const std::vector<Tensor> tensors = TensorsOf(xs);
  if (tensors.empty()) Throw(TF_INVALID_ARGUMENT, "There is no tensor to go through", where);
  return LengthOf(tensors[0], where);
}

}  // namespace internal

// Goes through the first dimension of `xs`, a tensor or a structure of tensors of equal lengths:
// carry = f(carry, x), from `init` on. Gives all carries but `init`, stacked along a new first
// dimension. A carry is a tensor or a structure of tensors, whose types and shapes f must keep.
// The first tensor of `xs`, which must have a dimension, says how many steps there are: longer
// tensors are used in part, a shorter one is the error of the op GatherV2. INVALID_ARGUMENT if `xs`
// has no tensor, or f gives another number of tensors or other types. In a trace it is one loop,
// through which gradients go, and f may be called several times. There a run without steps fails
// with INVALID_ARGUMENT if the trace does not know the shape of a carry.
template <typename F, typename Init, typename Xs>
auto Scan(const F& f, const Init& init, const Xs& xs, Where where = Where::current()) {
  using Carry = internal::AsStructure<Init>;
  using X = internal::AsStructure<Xs>;
  const Carry first = init;
  const X all = xs;
  std::vector<std::pair<DType, Shape>> elements;
  for (const Tensor& tensor : internal::TensorsOf(first))
    elements.emplace_back(tensor.dtype(), tensor.shape());
  const internal::Stepped result = internal::RunSteps(
      internal::CommonLength(all, where), internal::TensorsOf(first),
      [&](const Tensor& i, const std::vector<Tensor>& carries) {
        const Carry next =
            f(internal::WithTensors(first, carries), internal::ElementsAt(all, i, where));
        const std::vector<Tensor> tensors = internal::TensorsOf(next);
        if (tensors.size() != carries.size()) {
          internal::Throw(TF_INVALID_ARGUMENT,
                          "Scan: the function gives " + std::to_string(tensors.size()) +
                              " tensors for a carry of " + std::to_string(carries.size()),
                          where);
        }
        for (size_t k = 0; k < tensors.size(); ++k) {
          if (tensors[k].rep(where).dtype == carries[k].dtype()) continue;
          internal::Throw(TF_INVALID_ARGUMENT,
                          "Scan: tensor " + std::to_string(k) + " of the carry is of type " +
                              Name(carries[k].dtype()) + ", the function gives it " +
                              Name(tensors[k].dtype()),
                          where);
        }
        return std::make_pair(tensors, tensors);
      },
      elements, where);
  return internal::WithTensors(first, result.stacked);
}

// f(x) for each x along the first dimension of `xs`, stacked. `xs` and what f gives are tensors or
// structures of tensors. f must give the same types for each x, and no Tensor() without a value.
// INVALID_ARGUMENT if it gives another number of tensors for one. f is traced once before, also
// outside of a trace, for types and shapes. The steps are those of Scan, with its errors for `xs`.
// In a trace it is one loop, through which gradients go; a run without steps then fails with
// INVALID_ARGUMENT if the trace does not know the shape of a result.
template <typename F, typename Xs>
auto Map(const F& f, const Xs& xs, Where where = Where::current()) {
  using X = internal::AsStructure<Xs>;
  using Result = internal::AsStructure<std::invoke_result_t<const F&, X>>;
  const X all = xs;
  std::shared_ptr<Result> sample;
  const auto apply = [&](const Tensor& i) {
    const Result result = f(internal::ElementsAt(all, i, where));
    sample = std::make_shared<Result>(result);
    return internal::TensorsOf(result);
  };
  const std::vector<std::pair<DType, Shape>> elements = internal::ElementsOf(apply, where);
  const Result shape = *sample;
  const internal::Stepped result = internal::RunSteps(
      internal::CommonLength(all, where), {},
      [&](const Tensor& i, const std::vector<Tensor>&) {
        std::vector<Tensor> tensors = apply(i);
        if (tensors.size() != elements.size()) {
          internal::Throw(TF_INVALID_ARGUMENT,
                          "Map: the function gives " + std::to_string(tensors.size()) +
                              " tensors, and gave " + std::to_string(elements.size()) + " before",
                          where);
        }
        return std::make_pair(std::vector<Tensor>(), std::move(tensors));
      },
      elements, where);
  return internal::WithTensors(shape, result.stacked);
}

}  // namespace tenon::inline v0
