// Ops that hand values on or make them.
#include "absl/strings/str_cat.h"
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

void IdentityGradient(GradientScope& s) {
  for (int i = 0; i < s.num_inputs(); ++i) s.Pass(i, i);
}

// Zeros flow on where nothing flows in, as for all ops of several results.
void IdentityNGradient(GradientScope& s) {
  for (int i = 0; i < s.num_inputs(); ++i) {
    if (s.has_dy(i)) {
      s.Pass(i, i);
    } else if (CarriesGradient(s.x(i).dtype())) {
      s.Set(i, s.dy(i));
    }
  }
}

void PreventGradientGradient(GradientScope& s) {
  s.Fail(absl::NotFoundError(
      absl::StrCat("Gradient explicitly disabled. Reason: ", s.String("message"))));
}

constexpr GradientRow kBasic[] = {
    {"Const", nullptr},
    {"EnsureShape", Unary<[](GradientScope& s) { return ReshapeLike(s.dy(), s.x()); }>},
    {"Identity", IdentityGradient},
    {"IdentityN", IdentityNGradient},
    {"OnesLike", nullptr},
    {"Placeholder", nullptr},
    {"PlaceholderV2", nullptr},
    {"PlaceholderWithDefault", IdentityGradient},
    {"PreventGradient", PreventGradientGradient},
    {"RefIdentity", IdentityGradient},
    {"StopGradient", nullptr},
    {"ZerosLike", nullptr},
};

}  // namespace

absl::Span<const GradientRow> Basic() { return kBasic; }

}  // namespace tenon::gradients
