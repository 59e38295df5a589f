// The loop that computes the gradient of a loop, whether that is a While or a frame of version 1.
// It goes through the iterations from the last to the first, pops from lists what the forward loop
// has pushed there, and carries the gradients of the loop's variables. Private to
// graph/gradients/functional/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "graph/gradients/functional/differentiated_body.h"
#include "graph/gradients/functional/loop_variables.h"
#include "graph/gradients/graph_builder.h"

namespace tenon::gradients {

// The type of the count of iterations.
inline constexpr DataType kCountType = DataType::kInt32;

// The shape of a list's elements as TensorList ops take it: -1 for what is not known.
Value ListShape(GraphBuilder& b, const PartialShape& shape);

// Use: Differentiate, AddFunctions; then the forward loop is made to count and to push, and Call.
class BackwardLoop {
 public:
  // `first`: the values of the variables before the first iteration, in `b`. `body`: the body, with
  // an argument and a result for each variable. `facts`: FindLoopVariables of the body. `name` is
  // that of the forward loop's body; of a frame, its plain name and "_body". `b` must outlive the
  // object.
  BackwardLoop(GraphBuilder& b, std::string_view name, std::vector<Value> first,
               LoopVariables facts, std::unique_ptr<DifferentiatedBody> body);

  // A tensor of the body that the forward loop has to save in each iteration.
  struct Saved {
    Output from;
    DataType type;
    PartialShape shape;
  };

  // Differentiates and parts the body. `incoming(i)` is asked for each of carried(), and gives what
  // flows into the last value of variable i, zeros if nothing does. UNIMPLEMENTED for handles that
  // iterations exchange or make; other errors are those of DifferentiatedBody and of `b`.
  absl::Status Differentiate(absl::FunctionRef<Value(int)> incoming);
  DifferentiatedBody& body() const { return *body_; }
  // The variables whose gradients the loop carries.
  absl::Span<const int> carried() const { return carried_; }
  absl::Span<const Saved> saved() const { return saved_; }

  // Adds condition and body of the backward loop to the library, and removes the nodes of the
  // gradient from body(). `condition` is the name after which the function is named. UNIMPLEMENTED
  // for a node with state that lies in a branch of version 1 of the backward loop's body.
  absl::Status AddFunctions(std::string_view condition);
  // Adds the loop. `iterations` is how many iterations the forward loop has made, `lists` has for
  // each of saved() the list of what it saved. Returns the gradient of the first value for each of
  // carried(). `attrs` are attributes of the While.
  std::vector<Value> Call(Output iterations, absl::Span<const Output> lists, NewAttrs attrs);

 private:
  // A variable of the backward loop: its type, and its shape in all iterations.
  struct Carried {
    std::string name;
    DataType type;
    PartialShape shape;
  };

  absl::Status Capture();
  void ListVariables();
  absl::Status FillBody(FunctionGraph& body, absl::Span<const Output> arguments);
  absl::StatusOr<std::vector<Output>> AddArguments(FunctionGraph& function) const;
  absl::Status AddCondition(std::string_view name);
  absl::Status AddBody();

  GraphBuilder& b_;
  const std::string name_;
  const std::vector<Value> first_;
  const LoopVariables facts_;
  const std::unique_ptr<DifferentiatedBody> body_;
  std::vector<int> carried_;
  std::vector<Value> incoming_;       // of carried_: what flows into their last values
  std::vector<PartialShape> shapes_;  // of the gradients of carried_ in all iterations
  std::vector<Saved> saved_;
  std::vector<int> invariants_;     // variables that no iteration changes and the gradient reads
  std::vector<Carried> variables_;  // the count, gradients of carried_, lists, invariants
  std::string condition_function_, body_function_;
  bool has_state_ = false;
};

}  // namespace tenon::gradients
