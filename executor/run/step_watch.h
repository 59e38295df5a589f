// Sees each step of a run: for tests, which fill memory or delay steps.
#pragma once

#include <cstddef>

namespace tenon {

class Frame;

// Called on the thread that runs the step, on several threads at once where tasks run at once. The
// steps of branches and loops stand within the step that runs them.
class StepWatch {
 public:
  virtual ~StepWatch() = default;
  // `step`: of frame.plan().steps.
  virtual void BeforeStep(Frame& frame, size_t step) = 0;
  // After an error too, but not after a step that throws, as for a lack of memory (RunSteps).
  virtual void AfterStep(Frame& frame, size_t step) = 0;
};

}  // namespace tenon
