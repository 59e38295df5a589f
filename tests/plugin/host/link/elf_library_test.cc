#include "plugin/host/link/elf_library.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "plugin/host/link/link_check.h"
#include "tests/support/paths.h"

namespace tenon {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

std::string Write(const std::string& content) {
  const std::string path = ::testing::TempDir() + "elf_library_" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  return path;
}

std::string Content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string Apu() { return testing::Built("lib/plugins/libapu.so"); }

std::string ErrorFor(const std::string& content) {
  const auto library = ReadElfLibrary(Write(content));
  return library.ok() ? "" : std::string(library.status().message());
}

TEST(ElfLibrary, TellsWhatIsNeededAndExported) {
  const auto library = ReadElfLibrary(Apu());
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_THAT(library->needed, Contains("libc.so.6"));
  EXPECT_THAT(library->exported, IsSupersetOf({"SE_InitPlugin", "TF_InitGraph", "TF_InitKernel"}));
  EXPECT_THAT(library->undefined, Contains(Field(&ElfSymbol::name, "TF_NewStatus")));
  const auto c = std::find_if(library->undefined.begin(), library->undefined.end(),
                              [](const ElfSymbol& s) { return s.library == "libc.so.6"; });
  ASSERT_NE(c, library->undefined.end());
  EXPECT_THAT(c->version, HasSubstr("GLIBC_2."));
  EXPECT_FALSE(library->unique_symbols);
}

TEST(ElfLibrary, ReadsOldHashTablesAndDefinedVersions) {
  const auto library = ReadElfLibrary("/lib/x86_64-linux-gnu/libc.so.6");
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_EQ(library->soname, "libc.so.6");
  EXPECT_THAT(library->versions, Contains("GLIBC_2.2.5"));
  EXPECT_THAT(library->exported, Contains("memcpy"));
}

TEST(ElfLibrary, SaysWhatAFileIsInstead) {
  EXPECT_THAT(ErrorFor(""), HasSubstr("not an ELF file"));
  EXPECT_THAT(ErrorFor(std::string(100, 'x')), HasSubstr("not an ELF file"));
  std::string narrow = Content(Apu());
  narrow[4] = 1;
  EXPECT_THAT(ErrorFor(narrow), HasSubstr("not a 64-bit"));
  std::string arm = Content(Apu());
  arm[18] = static_cast<char>(183);
  EXPECT_THAT(ErrorFor(arm), HasSubstr("for machine 183, not for x86-64"));
  std::string object = Content(Apu());
  object[16] = 1;
  EXPECT_THAT(ErrorFor(object), HasSubstr("not a shared library"));
  EXPECT_THAT(ReadElfLibrary("/nonexistent.so").status().message(), HasSubstr("No such file"));
  EXPECT_THAT(ReadElfLibrary("/tmp").status().message(), HasSubstr("not a file"));
}

TEST(ElfLibrary, SurvivesTruncation) {
  const std::string whole = Content(Apu());
  const std::string path = Write(whole);
  for (size_t size = whole.size(); size > 0; size = size * 9 / 10) {
    std::filesystem::resize_file(path, size);
    const auto library = ReadElfLibrary(path);
    if (size < 4096) {
      EXPECT_FALSE(library.ok()) << size;
    }
  }
}

// Bytes of the headers and tables, changed one to four at a time, with values that hurt.
TEST(ElfLibrary, SurvivesMutation) {
  const std::string whole = Content(Apu());
  const std::string path = Write(whole);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  std::mt19937 random(1);
  const size_t tables = std::min<size_t>(whole.size() - 8, 32 << 10);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    const size_t at = round % 2 == 0 ? random() % 1024 : random() % tables;
    const uint64_t values[] = {0, UINT64_MAX, random(), uint64_t{1} << 62, 0x7fffffff};
    const size_t width = size_t{1} << random() % 4;
    ASSERT_EQ(pwrite(fd, &values[random() % 5], width, static_cast<off_t>(at)),
              static_cast<ssize_t>(width));
    refused += ReadElfLibrary(path).ok() ? 0 : 1;
    ASSERT_EQ(pwrite(fd, whole.data() + at, width, static_cast<off_t>(at)),
              static_cast<ssize_t>(width));
  }
  close(fd);
  EXPECT_GT(refused, 100);
  EXPECT_TRUE(ReadElfLibrary(path).ok());
}

TEST(LinkCheck, FindsEverythingForAWholePlugin) {
  const auto report = CheckLinks(Apu());
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->entry_points,
              ::testing::ElementsAre("SE_InitPlugin", "TF_InitKernel", "TF_InitGraph"));
  for (const NeededLibrary& needed : report->needed) EXPECT_NE(needed.path, "") << needed.name;
  for (const SymbolFinding& symbol : report->symbols)
    EXPECT_NE(symbol.state, SymbolState::kMissing) << symbol.symbol.name;
}

TEST(LinkCheck, NamesWhoWouldHaveASymbol) {
  const auto owner = [](const char* name, const char* library = "") {
    return LikelyOwner({.name = name, .version = "", .library = library});
  };
  EXPECT_THAT(owner("_ZN4absl12lts_2023080215AsciiStrToLowerEPNSt7__cxx1112basic_stringIcSt11char_"
                    "traitsIcESaIcEEE"),
              "Abseil");
  EXPECT_THAT(owner("_ZN3tsl4port14TestCPUFeatureENS0_10CPUFeatureE"),
              HasSubstr("TensorFlow's C++ library"));
  EXPECT_EQ(owner("AbslInternalSpinLockWake_lts_20230802"), "Abseil");
  EXPECT_THAT(owner("_ZN5nsync22nsync_from_time_point_ENSt6chrono10time_pointINS0_3_V212system_"
                    "clockENS0_8durationIlSt5ratioILl1ELl1000000000EEEEEE"),
              IsEmpty());
  EXPECT_EQ(owner("PyRun_SimpleStringFlags"), "Python");
  EXPECT_EQ(owner("TF_NoSuch"), "TensorFlow's C library");
  EXPECT_EQ(owner("vslNewStream", "libmkl_rt.so.2"), "libmkl_rt.so.2");
  EXPECT_THAT(owner("whatever"), IsEmpty());
}

}  // namespace
}  // namespace tenon
