// The destructor of a static object uses the library, also where it was made before all else.
#include <unistd.h>
#include <cstdio>

#include "tenon/function.h"
#include "tenon/gradient_tape.h"
#include "tenon/graph_file.h"
#include "tenon/operators.h"
#include "tenon/session.h"
#include "tenon/variable.h"

namespace {

using namespace tenon;

bool IsRight() {
  Variable v(1.f);
  v.AssignAdd(2.f);
  Function twice([](Tensor x) { return x * 2; });
  const Tensor x(3.f);
  GradientTape tape;
  tape.Watch(x);
  const Tensor slope = tape.Gradient(x * x, {x})[0];
  const Session session = Session::FromGraphDef(twice.Concrete(x).graph_def());
  return v.Read().item<float>() == 3 && twice(x).item<float>() == 6 && slope.item<float>() == 6 &&
         session.Run({{"arg_0", x}}, {"output_0"})[0].item<float>() == 6;
}

struct Late {
  ~Late() {
    try {
      if (IsRight()) return;
      std::fprintf(stderr, "static_objects: wrong values\n");
    } catch (const Error& error) {
      std::fprintf(stderr, "static_objects: %s\n", error.what());
    }
    _exit(1);
  }
};

const Late first;

}  // namespace

int main() {
  static const Late last;
  static const Variable kept(Tensor(1.f));
  static const Function function([](Tensor x) { return x + kept; });
  return IsRight() && function(Tensor(1.f)).item<float>() == 2 ? 0 : 1;
}
