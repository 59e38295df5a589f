// The inline functions on string elements, which are compiled into host and plug-ins alike.

#include "tsl/platform/ctstring.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

std::string_view Bytes(const TF_TString& s) {
  return {TF_TString_GetDataPointer(&s), TF_TString_GetSize(&s)};
}

struct String : TF_TString {
  String() { TF_TString_Init(this); }
  explicit String(std::string_view bytes) : String() {
    TF_TString_Copy(this, bytes.data(), bytes.size());
  }
  ~String() { TF_TString_Dealloc(this); }
};

TEST(TStringTest, LengthDecidesTheForm) {
  for (size_t size : {0, 1, 22, 23, 31, 32, 1000}) {
    const std::string bytes(size, 'x');
    String s(bytes);
    EXPECT_EQ(Bytes(s), bytes);
    EXPECT_EQ(TF_TString_GetDataPointer(&s)[size], '\0');
    EXPECT_EQ(TF_TString_GetType(&s), size <= 22 ? TF_TSTR_SMALL : TF_TSTR_LARGE);
    EXPECT_GE(TF_TString_GetCapacity(&s), size);
    EXPECT_EQ((TF_TString_GetCapacity(&s) + 1) % 16, size <= 22 ? 7 : 0);
  }
}

TEST(TStringTest, ResizeKeepsBytesBothWays) {
  String s("hello");
  TF_TString_Resize(&s, 40, '.');
  EXPECT_EQ(Bytes(s), "hello" + std::string(35, '.'));
  TF_TString_Resize(&s, 3, '.');
  EXPECT_EQ(Bytes(s), "hel");
  EXPECT_EQ(TF_TString_GetType(&s), TF_TSTR_SMALL);
}

TEST(TStringTest, ASizeThatNothingCanHoldLeavesTheStringAsItWas) {
  for (const std::string& bytes : {std::string("hello"), std::string(100, 'x')}) {
    String s(bytes);
    for (const size_t size : {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 4 + 1}) {
      EXPECT_EQ(TF_TString_ResizeUninitialized(&s, size), nullptr);
      EXPECT_EQ(TF_TString_Resize(&s, size, '.'), nullptr);
      TF_TString_Reserve(&s, size);
      TF_TString_AppendN(&s, bytes.data(), size);
      EXPECT_EQ(Bytes(s), bytes);
    }
  }
}

TEST(TStringTest, ShrinkingGivesMemoryBack) {
  String s(std::string(1000, 'a'));
  TF_TString_ResizeUninitialized(&s, 100);
  EXPECT_LT(TF_TString_GetCapacity(&s), 1000u);
  EXPECT_EQ(Bytes(s), std::string(100, 'a'));
}

TEST(TStringTest, AppendsAndGrows) {
  String s;
  std::string want;
  const String piece("0123456789");
  for (int i = 0; i < 30; ++i) {
    TF_TString_Append(&s, &piece);
    want += "0123456789";
  }
  EXPECT_EQ(Bytes(s), want);
}

TEST(TStringTest, ReserveChangesNothingVisible) {
  String s("abc");
  TF_TString_Reserve(&s, 100);
  EXPECT_EQ(Bytes(s), "abc");
  EXPECT_GE(TF_TString_GetCapacity(&s), 100u);
}

TEST(TStringTest, ViewsBecomeOwnedWhenWritten) {
  const std::string bytes(30, 'v');
  String s;
  TF_TString_AssignView(&s, bytes.data(), bytes.size());
  EXPECT_EQ(TF_TString_GetType(&s), TF_TSTR_VIEW);
  EXPECT_EQ(TF_TString_GetDataPointer(&s), bytes.data());
  EXPECT_EQ(TF_TString_GetCapacity(&s), 0u);
  TF_TString_GetMutableDataPointer(&s)[0] = 'w';
  EXPECT_EQ(TF_TString_GetType(&s), TF_TSTR_LARGE);
  EXPECT_EQ(bytes[0], 'v');
}

struct Owner : TStringOwnerCApi {
  int count = 1;
  Owner() {
    ref = [](TStringOwnerCApi* self) { ++static_cast<Owner*>(self)->count; };
    unref = [](TStringOwnerCApi* self) { return --static_cast<Owner*>(self)->count == 0; };
    obj = this;
  }
};

TEST(TStringTest, ViewsCountTheirOwner) {
  Owner owner;
  {
    const std::string bytes(30, 'v');
    String a, b, c;
    TF_TString_AssignViewWithOwner(&a, bytes.data(), bytes.size(), &owner);
    EXPECT_EQ(owner.count, 2);
    TF_TString_Assign(&b, &a);
    EXPECT_EQ(owner.count, 3);
    TF_TString_Move(&c, &a);
    EXPECT_EQ(owner.count, 3);
    EXPECT_EQ(Bytes(a), "");
    TF_TString_Resize(&b, 100, ' ');
    EXPECT_EQ(owner.count, 2);
  }
  EXPECT_EQ(owner.count, 1);
}

TEST(TStringTest, OffsetStringsAreReadInPlace) {
  struct {
    TF_TString s;
    char bytes[8];
  } block = {{}, "inline!"};
  block.s.u.offset.size = 7 << 2 | TF_TSTR_OFFSET;
  block.s.u.offset.offset = offsetof(decltype(block), bytes);
  EXPECT_EQ(TF_TString_GetType(&block.s), TF_TSTR_OFFSET);
  EXPECT_EQ(Bytes(block.s), "inline!");
  String copy;
  TF_TString_Assign(&copy, &block.s);
  EXPECT_EQ(TF_TString_GetType(&copy), TF_TSTR_VIEW);
  EXPECT_EQ(Bytes(copy), "inline!");
}

TEST(TStringTest, AssignCopiesAndMoveSteals) {
  String large(std::string(50, 'l')), small("small"), a, b;
  const char* block = TF_TString_GetDataPointer(&large);
  TF_TString_Assign(&a, &large);
  EXPECT_EQ(Bytes(a), Bytes(large));
  EXPECT_NE(TF_TString_GetDataPointer(&a), block);
  TF_TString_Move(&b, &large);
  EXPECT_EQ(TF_TString_GetDataPointer(&b), block);
  TF_TString_Assign(&a, &small);
  EXPECT_EQ(Bytes(a), "small");
}

}  // namespace
