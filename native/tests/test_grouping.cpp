#include "grouping.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"

namespace {

using kohorte::Code;
using kohorte::Count;
using kohorte::Grouper;
using kohorte::Grouping;

struct Task {
  Grouper::Maps maps;
  std::vector<Code> codes;
  std::vector<Count> weights;
  std::vector<std::uint32_t> levels;
};

// The slow and obvious way: a map from the generalized codes of a row to the number of its group.
Grouping obvious(const Task& task) {
  Grouping result;
  std::map<std::vector<Code>, Code> numbers;
  const std::size_t width = task.maps.size();
  for (std::size_t row = 0; row < task.weights.size(); ++row) {
    std::vector<Code> key;
    for (std::size_t a = 0; a < width; ++a) key.push_back(task.maps[a][task.levels[a]][task.codes[row * width + a]]);
    const auto [found, is_new] = numbers.emplace(std::move(key), static_cast<Code>(numbers.size()));
    if (is_new) {
      result.representatives.push_back(static_cast<Code>(row));
      result.sizes.push_back(0);
    }
    result.ids.push_back(found->second);
    result.sizes[found->second] += task.weights[row];
  }
  return result;
}

void check_same(const Grouping& got, const Grouping& wanted, bool with_ids) {
  CHECK(got.representatives == wanted.representatives);
  CHECK(got.sizes == wanted.sizes);
  if (with_ids) CHECK(got.ids == wanted.ids);
}

Code below(std::mt19937& random, std::size_t count) { return static_cast<Code>(random() % count); }

std::vector<std::vector<Code>> random_maps(std::mt19937& random, std::size_t domain) {
  std::vector<std::vector<Code>> levels(1);
  for (Code code = 0; code < domain; ++code) levels[0].push_back(code);
  std::size_t groups = domain;
  while (levels.size() < 3 && random() % 3 > 0) {
    const std::size_t fewer = 1 + random() % groups;
    std::vector<Code> merged, level;
    for (std::size_t g = 0; g < groups; ++g) merged.push_back(below(random, fewer));
    for (Code code : levels.back()) level.push_back(merged[code]);
    levels.push_back(std::move(level));
    groups = fewer;
  }
  return levels;
}

void draw_levels(std::mt19937& random, Task& task) {
  task.levels.clear();
  for (const auto& levels : task.maps) task.levels.push_back(below(random, levels.size()));
}

Task random_task(std::mt19937& random) {
  static constexpr std::size_t domains[] = {1, 1, 2, 3, 7, 60, 5000};
  Task task;
  const std::size_t width = 1 + random() % 9;
  for (std::size_t a = 0; a < width; ++a) task.maps.push_back(random_maps(random, domains[random() % 7]));
  const std::size_t rows = random() % 10 == 0 ? 600 + random() % 1200 : random() % 40;
  for (std::size_t row = 0; row < rows; ++row) {
    const bool repeats = row > 0 && random() % 2 == 0;
    const std::size_t other = repeats ? random() % row : 0;
    for (std::size_t a = 0; a < width; ++a) {
      const Code fresh = below(random, task.maps[a][0].size());
      task.codes.push_back(repeats ? task.codes[other * width + a] : fresh);
    }
    task.weights.push_back(1 + static_cast<Count>(random()));
  }
  draw_levels(random, task);
  return task;
}

void random_tables() {
  std::mt19937 random(4711);
  for (int round = 0; round < 1500; ++round) {
    Task task = random_task(random);
    Grouper grouper(task.maps);
    const kohorte::Rows rows = grouper.pack(task.codes);
    CHECK_EQ(rows.size(), task.weights.size());
    CHECK(grouper.unpack(rows) == task.codes);
    for (int again = 0; again < 3; ++again) {  // the scratch memory of the call before must not matter
      const Grouping wanted = obvious(task);
      check_same(grouper.group(rows, task.weights, task.levels, true), wanted, true);
      check_same(grouper.group(rows, task.weights, task.levels, false), wanted, false);
      draw_levels(random, task);
    }
  }
}

// Rolling up from the first rows of a finer grouping gives what grouping all rows gives.
void roll_up() {
  std::mt19937 random(99);
  for (int round = 0; round < 300; ++round) {
    Task task = random_task(random);
    Grouper grouper(task.maps);
    const kohorte::Rows rows = grouper.pack(task.codes);
    const std::vector<std::uint32_t> bottom(task.maps.size(), 0);
    const Grouping fine = grouper.group(rows, task.weights, bottom, false);
    const kohorte::Rows merged = rows.take(fine.representatives);
    const Grouping coarse = grouper.group(merged, fine.sizes, task.levels, false);
    CHECK(coarse.sizes == obvious(task).sizes);
  }
}

// 12 attributes of 3,000 codes need 139 bits: the key is made in three stages.
void keys_above_64_bits() {
  std::mt19937 random(5);
  Task task;
  std::vector<Code> all;
  for (Code code = 0; code < 3000; ++code) all.push_back(code);
  for (int a = 0; a < 12; ++a) task.maps.push_back({all});
  task.levels.assign(12, 0);
  for (std::size_t row = 0; row < 2000; ++row) {
    const std::size_t other = row < 500 ? row : random() % row;
    for (std::size_t a = 0; a < 12; ++a) {
      task.codes.push_back(row < 500 ? below(random, 3000) : task.codes[other * 12 + a]);
    }
    if (row % 3 == 0) task.codes[row * 12 + random() % 12] ^= 1U;  // nearly the same row
    task.weights.push_back(1);
  }
  Grouper grouper(task.maps);
  check_same(grouper.group(grouper.pack(task.codes), task.weights, task.levels, true), obvious(task), true);
}

void many_threads() {
  std::mt19937 random(17);
  Task task = random_task(random);
  while (task.weights.size() < 600) task = random_task(random);
  Grouper grouper(task.maps);
  const kohorte::Rows rows = grouper.pack(task.codes);
  const auto work = [&grouper, &rows, task](unsigned seed) mutable {
    std::mt19937 own(seed);
    for (int round = 0; round < 20; ++round) {
      draw_levels(own, task);
      check_same(grouper.group(rows, task.weights, task.levels, true), obvious(task), true);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
}

void bad_input() {
  using Codes = std::vector<Code>;
  CHECK(refuses([] { Grouper(Grouper::Maps{{{0, 1}, {0}}}); }));
  Grouper grouper(Grouper::Maps{{{0, 1, 2, 3}, {0, 0, 0, 0}}, {{0, 1, 2}}});
  Grouper narrow(Grouper::Maps{{{0, 1}}});
  CHECK(refuses([&] { grouper.pack(Codes{0, 0, 1}); }));
  CHECK(refuses([&] { grouper.pack(Codes{4, 0}); }));
  CHECK(refuses([&] { grouper.pack(Codes{0, 3}); }));
  const kohorte::Rows rows = grouper.pack(Codes{0, 0, 3, 2});
  const std::vector<Count> ones(2, 1);
  const auto group = [&](const std::vector<Count>& weights, const std::vector<std::uint32_t>& levels) {
    return refuses([&] { grouper.group(rows, weights, levels, true); });
  };
  CHECK(!group(ones, {1, 0}));
  CHECK(group(ones, {2, 0}));
  CHECK(group(ones, {0, 1}));
  CHECK(group(ones, {0}));
  CHECK(group(ones, {0, 0, 0}));
  CHECK(group({1}, {0, 0}));
  CHECK(group({1, 1, 1}, {0, 0}));
  CHECK(!refuses([&] { rows.take(Codes{1, 0, 1}); }));
  CHECK(refuses([&] { rows.take(Codes{0, 2}); }));
}

void no_rows() {
  Grouper grouper(Grouper::Maps{{{0, 1}}, {{0}}});
  const kohorte::Rows rows = grouper.pack({});
  const std::vector<std::uint32_t> levels(2, 0);
  const Grouping nothing = grouper.group(rows, {}, levels, true);
  CHECK_EQ(rows.size(), 0U);
  CHECK(nothing.ids.empty() && nothing.representatives.empty() && nothing.sizes.empty());
  CHECK(grouper.unpack(rows).empty());
}

}  // namespace

int main() {
  random_tables();
  roll_up();
  keys_above_64_bits();
  many_threads();
  bad_input();
  no_rows();
  return 0;
}
