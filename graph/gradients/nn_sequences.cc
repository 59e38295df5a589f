// Layers over time: recurrent networks, losses of sequences of labels.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

// The op gives the derivative of the loss beside the loss; that derivative has none.
Value OfCtcLoss(GradientScope& s) {
  const Value derivative =
      Op("PreventGradient", {s.y(1)},
         {{"message", attr::String("the derivative of a CTC loss cannot be differentiated")}});
  return ExpandDims(s.dy(0), -1) * derivative;
}

// Gradients flow in from the cell states and the results alone: outputs 1 and 6 of 7. Input 0 is
// the length. BlockLSTMV2 has the gates in another order, which BlockLSTMGradV2 knows. TensorFlow
// takes BlockLSTMGrad for both nevertheless, and so does this rule: numbers are to be the same.
void BlockLstmGradient(GradientScope& s) {
  std::vector<Value> inputs = s.xs();
  for (int i = 0; i < s.num_outputs(); ++i) inputs.push_back(s.y(i));
  inputs.push_back(s.dy(1));
  inputs.push_back(s.dy(6));
  const NodeId all = s.builder().AddNode("BlockLSTMGrad", inputs, s.Attrs({"use_peephole"}));
  for (int i = 1; i < s.num_inputs(); ++i) s.Set(i, s.builder().At(all, i - 1));
}

constexpr GradientRow kSequences[] = {
    {"BlockLSTM", BlockLstmGradient},  {"BlockLSTMV2", BlockLstmGradient},
    {"CTCBeamSearchDecoder", nullptr}, {"CTCGreedyDecoder", nullptr},
    {"CTCLoss", Unary<OfCtcLoss>},     {"CTCLossV2", Unary<OfCtcLoss>},
};

}  // namespace

absl::Span<const GradientRow> NnSequences() { return kSequences; }

}  // namespace tenon::gradients
