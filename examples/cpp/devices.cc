// devices libapu.so: ops on the CPU and on the device of a plug-in, one by one and in a function.
#include <tenon/tenon.h>

#include <iostream>

using namespace tenon;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: devices libapu.so\n";
    return 1;
  }
  LoadPlugin(argv[1]);
  for (const DeviceInfo& device : ListDevices())
    std::cout << device.type << ": " << device.name << "\n";

  SetSeed(1);
  Tensor random;
  {
    const Device on_cpu("/CPU:0");
    random = ops::RandomStandardNormal(Tensor::Of<int32_t>({2, 3}), DType::kFloat);
  }
  std::cout << "random lies on " << random.device() << "\n";
  Tensor relu;
  {
    const Device on_apu("/APU:0");
    relu = ops::Relu(random);
  }
  std::cout << "relu lies on " << relu.device() << "\n" << relu << "\n";

  // The same as a graph: the copy to the device is Tenon's business.
  Function layer(
      [](Tensor x) {
        const Device on_apu("/APU:0");
        return ops::Relu(x);
      },
      {.name = "layer"});
  const Tensor result = layer(random);
  std::cout << layer.Concrete(random).Explain();
  // What a function gives lies on the host; To brings it where it is wanted.
  const Tensor there = result.To("/APU:0");
  std::cout << "the function's result lies on " << there.device() << "\n"
            << "same numbers: " << ops::All(result == relu, Tensor::Of<int32_t>({0, 1})) << "\n";
}
