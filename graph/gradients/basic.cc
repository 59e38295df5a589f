// Ops that hand values on, make them or add them up.
#include "absl/strings/str_cat.h"
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

void IdentityGradient(GradientScope& s) {
  for (int i = 0; i < s.num_inputs(); ++i) s.Pass(i, i);
}

void AddNGradient(GradientScope& s) {
  for (int i = 0; i < s.num_inputs(); ++i) s.Pass(i, 0);
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
    {"AccumulateNV2", AddNGradient},
    {"AddN", AddNGradient},
    {"DebugIdentityV2", IdentityGradient},
    {"EnsureShape", Unary<[](GradientScope& s) { return ReshapeLike(s.dy(), s.x()); }>},
    {"Identity", IdentityGradient},
    {"IdentityN", IdentityNGradient},
    {"OnesLike", nullptr},
    {"PlaceholderWithDefault", IdentityGradient},
    {"PreventGradient", PreventGradientGradient},
    {"RefIdentity", IdentityGradient},
    {"StopGradient", nullptr},
    {"ZerosLike", nullptr},
};

}  // namespace

absl::Span<const GradientRow> Basic() { return kBasic; }

}  // namespace tenon::gradients
