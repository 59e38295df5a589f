// A graph that 8 threads run at once, without looking up a name.
#include <tenon/tenon.h>

#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

using namespace tenon;

int main() {
  // Session::Load reads files; here the graph is made on the spot.
  Function square([](Tensor x, Tensor y) { return x * x + y; });
  const std::string graph =
      square.Concrete(TensorSpec(DType::kFloat, {-1}, "x"), TensorSpec(DType::kFloat, {}, "y"))
          .graph_def();
  const Session session = Session::FromGraphDef(graph, {.threads = 1});
  for (const SignatureTensor& input : session.inputs())
    std::cout << "input " << input.name << " " << input.dtype << input.shape << "\n";

  const Callable callable = session.MakeCallable({"x", "y"}, {"output_0"});
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const auto offset = static_cast<float>(t);
      for (int i = 0; i < 100; ++i) {
        const auto x = static_cast<float>(i);
        const Tensor result = callable({Tensor::Of<float>({x, 2}), Tensor(offset)})[0];
        if (result.ToVector<float>() == std::vector<float>{x * x + offset, 4 + offset}) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::cout << threads.size() << " threads, " << right << " runs, "
            << (right == 800 ? "all right" : "some wrong") << "\n";
}
