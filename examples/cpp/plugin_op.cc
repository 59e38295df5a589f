// plugin_op libapu.so: an op that a plug-in brings. The library knows it by its name alone.
#include <tenon/tenon.h>

#include <iostream>

using namespace tenon;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: plugin_op libapu.so\n";
    return 1;
  }
  LoadPlugin(argv[1]);
  const Tensor value = Tensor::Of<float>({{-3, 2}, {-1, 4}});
  const Tensor bias = Tensor::Of<float>({0.5f, 0.5f});
  const auto bias_relu = [&](Tensor x) { return Op("ApuBiasRelu").Input(x).Input(bias).RunOne(); };
  std::cout << bias_relu(value) << "\n";
  Function function(bias_relu);
  std::cout << function(value) << "\n";
  try {
    Op("ApuBiasRelu").Input(value).Input(Tensor::Of<float>({1, 2, 3})).RunOne();
  } catch (const Error& error) {
    std::cout << "refused: " << error.what() << "\n";
  }
}
