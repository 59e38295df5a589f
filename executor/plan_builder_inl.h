// The one template of PlanBuilder that several of its files use.
#pragma once

#include <utility>

#include "executor/plan_builder.h"

namespace tenon {

template <typename T>
T* PlanBuilder::AddSlowStep(NodeId n, std::unique_ptr<T> step, int32_t alive,
                            absl::Span<const int32_t> inputs, absl::Span<const int32_t> outputs) {
  T* raw = step.get();
  raw->guard = alive;
  plan_->slow_steps.push_back(std::move(step));
  BuildStep& s = AddStep(n, inputs, outputs);
  s.fn = RunSlowStep;
  s.guard = alive;
  s.state = static_cast<const SlowStep*>(raw);
  return raw;
}

}  // namespace tenon
