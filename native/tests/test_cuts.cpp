#include "cuts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "check.hpp"

namespace {

using kohorte::Code;
using kohorte::Count;
using kohorte::Cutter;
using kohorte::Cuts;

using Ends = std::vector<std::int64_t>;

struct Task {
  std::vector<Code> places;
  std::vector<std::vector<std::int64_t>> ticks;
  std::vector<std::int64_t> weights;
  std::vector<std::vector<Code>> levels;
  Count least = 1;
  bool relaxed = false;

  std::size_t width() const { return ticks.size(); }
  std::size_t rows() const { return places.size() / width(); }
  Cutter cutter() const { return {places, ticks, weights, levels, least, relaxed}; }

  // The width of an interval of an attribute, times the ranges of all attributes: whole numbers that can be compared.
  std::int64_t wide(std::size_t attribute, Code low, Code high) const {
    std::int64_t width = weights[attribute] * (ticks[attribute][high] - ticks[attribute][low]);
    for (std::size_t other = 0; other < ticks.size(); ++other) {
      const std::int64_t range = ticks[other].back() - ticks[other].front();
      if (other != attribute) width *= std::max<std::int64_t>(1, range);
    }
    return width;
  }
};

struct Cut {
  std::int32_t attribute = -1;
  Code boundary = 0;
  Count left = 0;
  bool operator==(const Cut&) const = default;
};

Cut proposed(Cutter& cutter, std::int64_t begin, std::int64_t end, std::int64_t attempt) {
  const Cuts found = cutter.propose(Ends{begin}, Ends{end}, Ends{attempt});
  CHECK_EQ(found.attributes.size(), 1U);
  return {found.attributes[0], found.boundaries[0], found.left[0]};
}

void split(Cutter& cutter, std::int64_t begin, std::int64_t end, const Cut& cut) {
  cutter.split(Ends{begin}, Ends{end}, std::vector<std::int32_t>{cut.attribute}, std::vector<Code>{cut.boundary},
               std::vector<Count>{cut.left});
}

Task random_task(std::mt19937& random) {
  const auto below = [&](std::size_t end) { return static_cast<Code>(random() % end); };
  Task task;
  task.relaxed = random() % 2 == 0;
  task.least = 1 + static_cast<Count>(random() % 4);
  const std::size_t width = 1 + random() % 3, rows = random() % 30;
  const bool walled = random() % 2 == 0;
  for (std::size_t attribute = 0; attribute < width; ++attribute) {
    const std::size_t length = std::vector<std::size_t>{1, 2, 5, 300}[random() % 4];
    std::vector<std::int64_t> line;
    std::int64_t along = 0;
    for (std::size_t place = 0; place < length; ++place) line.push_back(along += below(3));
    std::vector<Code> levels(length, 0);
    for (Code& level : levels) level = walled ? below(3) : 0;
    task.ticks.push_back(line);
    task.weights.push_back(below(4));
    task.levels.push_back(levels);
  }
  for (std::size_t row = 0; row < rows; ++row) {
    for (const auto& line : task.ticks) task.places.push_back(below(line.size()));
  }
  return task;
}

// All cuts of a region by their definition, the first one first.
std::vector<Cut> every_cut(const Task& task, const std::vector<Code>& region) {
  std::vector<std::tuple<std::size_t, std::int64_t, std::int32_t, Code, Count>> ranked, anywhere;
  const auto rows = static_cast<Count>(region.size());
  if (rows < 2 * task.least) return {};
  for (std::size_t attribute = 0; attribute < task.width(); ++attribute) {
    std::vector<Code> values;
    for (const Code row : region) values.push_back(task.places[row * task.width() + attribute]);
    std::sort(values.begin(), values.end());
    const std::int64_t span = task.wide(attribute, values.front(), values.back());
    const auto axis = static_cast<std::int32_t>(attribute);
    anywhere.emplace_back(std::numeric_limits<std::size_t>::max(), -span, axis, values[(values.size() + 1) / 2 - 1],
                          rows / 2);
    std::vector<std::tuple<Code, Code, Count>> boundaries;  // level, place, rows before it
    Code highest = 0;
    for (std::size_t index = 1; index < values.size(); ++index) {
      if (values[index] == values[index - 1]) continue;
      Code level = 0;
      for (Code place = values[index - 1] + 1; place <= values[index]; ++place) {
        level = std::max(level, task.levels[attribute][place]);
      }
      highest = std::max(highest, level);
      boundaries.emplace_back(level, values[index], static_cast<Count>(index));
    }
    std::vector<std::tuple<Count, Code, Count>> allowed;
    for (const auto& [level, place, left] : boundaries) {
      if (level == highest && left >= task.least && rows - left >= task.least) {
        allowed.emplace_back(std::abs(2 * left - rows), place, left);
      }
    }
    std::sort(allowed.begin(), allowed.end());
    allowed.resize(std::min(allowed.size(), Cutter::kNearest));
    std::size_t rank = 0;
    for (const auto& [off, place, left] : allowed) ranked.emplace_back(rank++, -span, axis, place, left);
  }
  if (task.relaxed) {
    const auto narrow = [](const auto& cut) { return std::get<1>(cut) >= 0; };
    if (std::all_of(anywhere.begin(), anywhere.end(), narrow)) {
      anywhere.resize(1);
    } else {
      std::erase_if(anywhere, narrow);
    }
    ranked.insert(ranked.end(), anywhere.begin(), anywhere.end());
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<Cut> cuts;
  for (const auto& [rank, span, axis, place, left] : ranked) cuts.push_back({axis, place, left});
  return cuts;
}

void cuts_are_those_of_the_definition() {
  std::mt19937 random(7);
  for (int round = 0; round < 600; ++round) {
    const Task task = random_task(random);
    Cutter cutter = task.cutter();
    std::vector<std::pair<std::int64_t, std::int64_t>> open{{0, static_cast<std::int64_t>(task.rows())}};
    while (!open.empty()) {
      const auto [begin, end] = open.back();
      open.pop_back();
      const std::vector<Code> before = cutter.ids();
      const std::vector<Code> region(before.begin() + begin, before.begin() + end);
      const auto cuts = every_cut(task, region);
      for (std::size_t attempt = 0; attempt < cuts.size(); ++attempt) {
        CHECK(proposed(cutter, begin, end, static_cast<std::int64_t>(attempt)) == cuts[attempt]);
      }
      CHECK(proposed(cutter, begin, end, static_cast<std::int64_t>(cuts.size())) == Cut{});
      if (cuts.empty()) continue;
      const Cut cut = cuts[random() % cuts.size()];
      split(cutter, begin, end, cut);
      std::vector<Code> left, right;
      Count at = cut.left;
      const auto axis = static_cast<std::size_t>(cut.attribute);
      const auto place = [&](Code row) { return task.places[row * task.width() + axis]; };
      for (const Code row : region) at -= place(row) < cut.boundary;
      for (const Code row : region) {
        const bool stays = place(row) < cut.boundary || (place(row) == cut.boundary && at-- > 0);
        (stays ? left : right).push_back(row);
      }
      CHECK_EQ(static_cast<Count>(left.size()), cut.left);
      left.insert(left.end(), right.begin(), right.end());
      CHECK(std::equal(left.begin(), left.end(), cutter.ids().begin() + begin));
      open.emplace_back(begin, begin + cut.left);
      open.emplace_back(begin + cut.left, end);
    }
  }
}

void several_regions_at_once() {
  const Task task{{0, 3, 1, 2, 3, 0, 1, 2}, {{0, 1, 2, 3}}, {1}, {{0, 0, 0, 0}}, 1, false};
  Cutter cutter = task.cutter();
  const Cuts cuts = cutter.propose(Ends{0, 4, 0}, Ends{4, 8, 1}, Ends{0, 2, 0});
  CHECK(cuts.attributes == (std::vector<std::int32_t>{0, 0, -1}));
  CHECK(cuts.boundaries == (std::vector<Code>{2, 3, 0}));
  CHECK(cuts.left == (std::vector<Count>{2, 3, 0}));
  cutter.split(Ends{0, 4}, Ends{4, 8}, std::vector<std::int32_t>{0, 0}, std::vector<Code>{2, 3},
               std::vector<Count>{2, 3});
  CHECK(cutter.ids() == (std::vector<Code>{0, 2, 1, 3, 5, 6, 7, 4}));
}

void huge_sparse_lines() {
  constexpr std::size_t kLength = 3000000;
  const std::vector<Code> places{5, 2999999, 70, 1000000, 70, 2000000};
  Task task{places, {Ends(kLength)}, {1}, {std::vector<Code>(kLength)}, 2, false};
  for (std::size_t place = 0; place < kLength; ++place) task.ticks[0][place] = static_cast<std::int64_t>(place);
  Cutter strict = task.cutter();
  CHECK((proposed(strict, 0, 6, 0) == Cut{0, 1000000, 3}));
  CHECK((proposed(strict, 0, 6, 1) == Cut{0, 2000000, 4}));
  CHECK(proposed(strict, 0, 6, 2) == Cut{});
  task.relaxed = true;
  Cutter relaxed = task.cutter();
  CHECK((proposed(relaxed, 0, 6, 0) == Cut{0, 1000000, 3}));
  CHECK((proposed(relaxed, 0, 6, 2) == Cut{0, 70, 3}));
}

void bad_input() {
  const Task sound{{0, 1, 1, 0}, {{0, 1}, {0, 1}}, {1, 1}, {{0, 0}, {0, 0}}, 1, false};
  const auto refused = [&](auto spoil) {
    Task task = sound;
    spoil(task);
    return refuses([&] { task.cutter(); });
  };
  CHECK(!refused([](Task&) {}));
  CHECK(refused([](Task& task) { task.places[3] = 2; }));
  CHECK(refused([](Task& task) { task.places.pop_back(); }));
  CHECK(refused([](Task& task) { task.levels.pop_back(); }));
  CHECK(refused([](Task& task) { task.levels[1].pop_back(); }));
  CHECK(refused([](Task& task) { task.weights.pop_back(); }));
  CHECK(refused([](Task& task) { task.weights[1] = -1; }));
  CHECK(refused([](Task& task) { task.ticks[1] = {1, 0}; }));
  CHECK(refused([](Task& task) { task.ticks[1] = {-1, 0}; }));
  CHECK(refused([](Task& task) {
    task.ticks.clear();
    task.weights.clear();
    task.levels.clear();
    task.places.clear();
  }));
  CHECK(refused([](Task& task) { task.least = 0; }));
  Cutter cutter = sound.cutter();
  for (const auto& [begin, end] : {std::pair{-1, 1}, {1, 0}, {0, 3}}) {
    CHECK(refuses([&] { proposed(cutter, begin, end, 0); }));
    CHECK(refuses([&] { split(cutter, begin, end, {0, 1, 1}); }));
  }
  CHECK(refuses([&] { split(cutter, 0, 2, {-1, 1, 1}); }));
  CHECK(refuses([&] { split(cutter, 0, 2, {2, 1, 1}); }));
  CHECK(refuses([&] { cutter.propose(Ends{0}, Ends{1, 2}, Ends{0}); }));
  CHECK(refuses([&] { cutter.propose(Ends{0}, Ends{2}, Ends{0, 0}); }));
  const std::vector<std::int32_t> no_attributes;
  CHECK(refuses([&] { cutter.split(Ends{0}, Ends{2}, no_attributes, std::vector<Code>{1}, std::vector<Count>{1}); }));
}

// Widths that differ by less than a double can tell, and widths that are equal although doubles differ.
void widths_are_compared_exactly() {
  using kohorte::Width;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto equal = [](const Width& one, const Width& other) {
    return !one.wider_than(other) && !other.wider_than(one);
  };
  CHECK(equal({1, 1, 3}, {2, 1, 6}));
  CHECK(equal({3, 1, 10}, {1, 3, 10}));
  CHECK(equal({kMost, kMost, kMost}, {kMost, kMost, kMost}));
  CHECK(equal({0, 5, 7}, {3, 0, 2}));
  CHECK((Width{kMost, 1, kMost}.wider_than({kMost - 1, 1, kMost})));
  CHECK((!Width{kMost - 1, 1, kMost}.wider_than({kMost, 1, kMost})));
  CHECK((Width{kMost - 1, kMost, kMost - 2}.wider_than({kMost, kMost - 1, kMost - 1})));
  CHECK((Width{(std::int64_t{1} << 53) + 1, 1, 1}.wider_than({std::int64_t{1} << 53, 1, 1})));
  // 1/3 of the first line and 2/6 of the second: the first attribute is cut.
  Task task{{0, 0, 1, 2}, {{0, 1, 3}, {0, 1, 2, 6}}, {1, 1}, {{0, 0, 0}, {0, 0, 0, 0}}, 1, false};
  Cutter tied = task.cutter();
  CHECK_EQ(proposed(tied, 0, 2, 0).attribute, 0);
  task.ticks[1] = {0, 1, 3, 6};
  Cutter wider = task.cutter();
  CHECK_EQ(proposed(wider, 0, 2, 0).attribute, 1);
}

void nothing_to_cut() {
  Task task{{}, {{0, 1}}, {1}, {{0, 0}}, 1, true};
  Cutter none = task.cutter();
  CHECK(proposed(none, 0, 0, 0) == Cut{});
  task.places = {1};
  Cutter one = task.cutter();
  CHECK(proposed(one, 0, 1, 0) == Cut{});
  task.places = {1, 1, 1};
  Cutter equal = task.cutter();
  CHECK((proposed(equal, 0, 3, 0) == Cut{0, 1, 1}));
  task.relaxed = false;
  Cutter strict = task.cutter();
  CHECK(proposed(strict, 0, 3, 0) == Cut{});
}

}  // namespace

int main() {
  cuts_are_those_of_the_definition();
  several_regions_at_once();
  huge_sparse_lines();
  widths_are_compared_exactly();
  nothing_to_cut();
  bad_input();
  return 0;
}
