#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "check.hpp"
#include "least_loss/loss_cuts.hpp"
#include "least_loss/regroup.hpp"

namespace {

using kohorte::Axis;
using kohorte::Code;
using kohorte::Cost;
using kohorte::Count;
using kohorte::Grouped;
using kohorte::LossCutter;
using kohorte::Regrouper;

using Ends = std::vector<std::int64_t>;

Axis random_axis(std::mt19937& random, std::size_t rows) {
  const auto below = [&](std::size_t end) { return static_cast<Cost>(random() % end); };
  const std::size_t length = 1 + random() % 6;
  Axis axis;
  axis.kind = static_cast<Axis::Kind>(random() % 4);
  axis.missing = static_cast<Code>(axis.kind == Axis::kTree || random() % 2 == 0 ? length : length - 1);
  if (axis.kind == Axis::kMix) axis.missing = static_cast<Code>(length);
  Cost along = 0;
  for (std::size_t place = 0; place < length; ++place) {
    axis.first.push_back(axis.kind == Axis::kSpan ? along : 2);
    axis.second.push_back(axis.kind == Axis::kSpan ? along += below(4) : 2 + below(3));
  }
  if (axis.kind == Axis::kMix) {
    axis.second.clear();
    for (std::size_t count = 0; count <= rows + 1; ++count) axis.second.push_back(static_cast<Cost>(count * count));
  }
  if (axis.kind == Axis::kTree) {
    std::vector<Code> fine(length), all(length, 0);
    for (std::size_t place = 0; place < length; ++place) fine[place] = static_cast<Code>(place / 2);
    axis.groups = {fine, all};
    axis.costs = {std::vector<Cost>(length, below(3)), std::vector<Cost>(length, 3 + below(3))};
  }
  return axis;
}

Grouped random_table(std::mt19937& random) {
  Grouped table;
  const std::size_t rows = random() % 60, width = 1 + random() % 4;
  table.least = 1 + static_cast<Count>(random() % 4);
  table.left_out = 20;
  for (std::size_t a = 0; a < width; ++a) table.axes.push_back(random_axis(random, rows));
  for (std::size_t row = 0; row < rows; ++row) {
    for (const Axis& axis : table.axes) table.places.push_back(static_cast<Code>(random() % axis.length()));
  }
  if (random() % 3 == 0) {
    table.needs.push_back(2);
    auto& mark = table.marks.emplace_back();
    for (std::size_t row = 0; row < rows; ++row) mark.push_back(static_cast<Code>(random() % 4));
  }
  if (random() % 3 == 0) {
    for (std::size_t row = 0; row < rows; ++row) table.fixed.push_back(static_cast<Code>(random() % 2));
  }
  return table;
}

// What a group costs, by the definition.
Cost plain_cost(const Grouped& table, const std::vector<Code>& rows) {
  Cost each = 0, mixed = 0;
  for (std::size_t a = 0; a < table.width(); ++a) {
    const Axis& axis = table.axes[a];
    std::map<Code, std::size_t> counts;
    for (const Code row : rows) ++counts[table.row(row)[a]];
    if (axis.kind == Axis::kMix) {
      mixed += axis.second[rows.size()];
      for (const auto& [place, count] : counts) mixed -= axis.second[count];
      continue;
    }
    counts.erase(axis.missing);
    if (counts.empty()) continue;
    if (axis.kind == Axis::kSet) {
      Cost sum = -axis.first[0];
      for (const auto& [place, count] : counts) sum += axis.second[place];
      each += std::max<Cost>(0, sum);
    } else {
      each += axis.between(counts.begin()->first, counts.rbegin()->first);
    }
  }
  return static_cast<Cost>(rows.size()) * each + mixed;
}

Cost cost_of(const Regrouper& regrouper, const Grouped& table, const std::vector<Code>& group_of) {
  const auto costs = regrouper.costs(group_of);
  return std::accumulate(costs.begin(), costs.end(), Cost{0}) +
         table.left_out * std::count(group_of.begin(), group_of.end(), Axis::kNone);
}

std::map<Code, std::vector<Code>> grouped_by(const std::vector<Code>& group_of) {
  std::map<Code, std::vector<Code>> groups;
  for (Code row = 0; row < group_of.size(); ++row) groups[group_of[row]].push_back(row);
  return groups;
}

Cost plain_cost(const Grouped& table, const std::vector<Code>& group_of, bool all) {
  CHECK(all);
  Cost total = 0;
  for (const auto& [group, rows] : grouped_by(group_of)) {
    total += group == Axis::kNone ? table.left_out * static_cast<Cost>(rows.size()) : plain_cost(table, rows);
  }
  return total;
}

bool enough(const Grouped& table, const std::vector<Code>& rows) {
  if (static_cast<Count>(rows.size()) < table.least) return false;
  for (std::size_t r = 0; r < table.needs.size(); ++r) {
    std::set<Code> different;
    for (const Code row : rows) different.insert(table.marks[r][row]);
    if (static_cast<Count>(different.size()) < table.needs[r]) return false;
  }
  return true;
}

// Groups of consecutive rows that have what they must have; the last one takes the rest. Empty if there is none.
std::vector<Code> some_groups(const Grouped& table) {
  std::vector<std::vector<Code>> groups(1);
  for (Code row = 0; row < table.rows(); ++row) {
    if (enough(table, groups.back()) && table.rows() - row >= 8) groups.emplace_back();
    groups.back().push_back(row);
  }
  if (!enough(table, groups.back()) && groups.size() > 1) {
    const auto rest = std::move(groups.back());
    groups.pop_back();
    groups.back().insert(groups.back().end(), rest.begin(), rest.end());
  }
  if (!enough(table, groups.back())) return {};
  std::vector<Code> group_of(table.rows());
  for (Code group = 0; group < groups.size(); ++group) {
    for (const Code row : groups[group]) group_of[row] = group;
  }
  return group_of;
}

void rounds_never_cost_more_and_keep_what_groups_must_have() {
  std::mt19937 random(11);
  int improved = 0, left = 0;
  for (int task = 0; task < 400; ++task) {
    const Grouped table = random_table(random);
    std::vector<Code> group_of = some_groups(table);
    if (group_of.empty()) continue;
    const Regrouper regrouper(table);
    Cost cost = plain_cost(table, group_of, true);
    CHECK_EQ(cost_of(regrouper, table, group_of), cost);
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::size_t may_leave = random() % 2 == 0 ? 0 : 3;
      const auto found = regrouper.round(group_of, {5, 32, 1}, may_leave, round, 1, 1e9);
      CHECK(found == regrouper.round(group_of, {5, 32, 1}, may_leave, round, 3, 1e9));
      const Cost now = plain_cost(table, found, true);
      CHECK_EQ(cost_of(regrouper, table, found), now);
      CHECK(now <= cost);
      improved += now < cost;
      std::size_t before_out = 0, out = 0;
      for (const auto& [group, rows] : grouped_by(found)) {
        if (group == Axis::kNone) out = rows.size(); else CHECK(enough(table, rows));
      }
      for (const Code group : group_of) before_out += group == Axis::kNone;
      CHECK(out <= before_out + may_leave);
      left += out > before_out;
      if (!table.fixed.empty()) {
        std::multiset<std::multiset<Code>> before, after;
        for (const auto& [group, rows] : grouped_by(group_of)) {
          std::multiset<Code> kinds;
          for (const Code row : rows) kinds.insert(table.fixed[row]);
          before.insert(kinds);
        }
        for (const auto& [group, rows] : grouped_by(found)) {
          std::multiset<Code> kinds;
          for (const Code row : rows) kinds.insert(table.fixed[row]);
          after.insert(kinds);
        }
        CHECK(before == after);
      }
      group_of = found;
      cost = now;
    }
  }
  CHECK(improved > 100);
  CHECK(left > 3);
}

void many_groups_are_divided_into_neighbourhoods_and_threads_do_not_change_the_answer() {
  std::mt19937 random(5);
  Grouped table;
  table.least = 2;
  for (int a = 0; a < 2; ++a) {
    Axis axis;
    axis.missing = 100;
    for (Cost place = 0; place < 100; ++place) axis.first.push_back(place);
    axis.second = axis.first;
    table.axes.push_back(axis);
  }
  std::vector<Code> group_of;
  for (Code row = 0; row < 3000; ++row) {
    table.places.push_back(static_cast<Code>(random() % 100));
    table.places.push_back(static_cast<Code>(random() % 100));
    group_of.push_back(row / 2);
  }
  const Regrouper regrouper(table);
  const auto one = regrouper.round(group_of, {5, 32, 1}, 0, 1, 1, 1e9);
  CHECK(one == regrouper.round(group_of, {5, 32, 1}, 0, 1, 4, 1e9));
  CHECK(cost_of(regrouper, table, one) < cost_of(regrouper, table, group_of));
  CHECK(one != regrouper.round(group_of, {5, 32, 1}, 0, 2, 1, 1e9));
  CHECK(cost_of(regrouper, table, regrouper.round(group_of, {5, 32, 1}, 0, 1, 1, 0)) == cost_of(regrouper, table, group_of));
}

void cuts_are_the_cheapest() {
  std::mt19937 random(3);
  int cut = 0;
  for (int task = 0; task < 300; ++task) {
    Grouped table = random_table(random);
    table.marks.clear();
    table.needs.clear();
    table.fixed.clear();
    const bool relaxed = random() % 2 == 0;
    LossCutter cutter(table, relaxed);
    const auto rows = static_cast<std::int64_t>(table.rows());
    const auto found = cutter.propose(Ends{0}, Ends{rows}, Ends{0});
    const std::size_t least = std::max<std::size_t>(static_cast<std::size_t>(table.least), table.rows() / 16);
    Cost best = std::numeric_limits<Cost>::max();
    for (std::size_t a = 0; a < table.width() && table.rows() >= 2 * static_cast<std::size_t>(table.least); ++a) {
      std::vector<Code> order = cutter.ids();
      std::stable_sort(order.begin(), order.end(), [&](Code x, Code y) { return table.row(x)[a] < table.row(y)[a]; });
      for (std::size_t left = least; left + least <= order.size(); ++left) {
        if (!relaxed && table.row(order[left - 1])[a] == table.row(order[left])[a]) continue;
        const auto middle = order.begin() + static_cast<std::ptrdiff_t>(left);
        best = std::min(best, plain_cost(table, {order.begin(), middle}) + plain_cost(table, {middle, order.end()}));
      }
    }
    if (found.attributes[0] < 0) {
      CHECK_EQ(best, std::numeric_limits<Cost>::max());
      continue;
    }
    ++cut;
    cutter.split(Ends{0}, Ends{rows}, found.attributes, found.boundaries, found.left);
    const auto ids = cutter.ids();
    const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(found.left[0]);
    CHECK_EQ(plain_cost(table, {ids.begin(), middle}) + plain_cost(table, {middle, ids.end()}), best);
    CHECK(cutter.propose(Ends{0}, Ends{rows}, Ends{1000}).attributes[0] == -1);
  }
  CHECK(cut > 150);
}

void bad_input() {
  Grouped sound;
  sound.places = {0, 1, 1, 0};
  for (int a = 0; a < 2; ++a) {
    Axis axis;
    axis.first = {0, 1};
    axis.second = {0, 1};
    axis.missing = 2;
    sound.axes.push_back(axis);
  }
  const auto refused = [&](auto spoil) {
    Grouped table = sound;
    spoil(table);
    return refuses([&] { const Regrouper one(table); });
  };
  CHECK(!refused([](Grouped&) {}));
  CHECK(refused([](Grouped& table) { table.places[0] = 2; }));
  CHECK(refused([](Grouped& table) { table.places.pop_back(); }));
  CHECK(refused([](Grouped& table) { table.axes.clear(); }));
  CHECK(refused([](Grouped& table) { table.least = 0; }));
  CHECK(refused([](Grouped& table) { table.axes[0].second.pop_back(); }));
  CHECK(refused([](Grouped& table) { table.axes[0].missing = 3; }));
  CHECK(refused([](Grouped& table) { table.axes[0].kind = Axis::kTree; }));
  CHECK(refused([](Grouped& table) { table.axes[0].kind = Axis::kMix; }));
  CHECK(refused([](Grouped& table) { table.axes[0].groups = {{0, 0}}; }));
  CHECK(refused([](Grouped& table) {
    table.axes[0].kind = Axis::kTree;
    table.axes[0].groups = {{0, 1}};
    table.axes[0].costs = {{0, 0}};
  }));
  CHECK(refused([](Grouped& table) { table.needs = {1}; }));
  CHECK(refused([](Grouped& table) {
    table.needs = {1};
    table.marks = {{0}};
  }));
  CHECK(refused([](Grouped& table) { table.fixed = {0}; }));
  const Regrouper regrouper(sound);
  CHECK(refuses([&] { regrouper.costs(std::vector<Code>{0}); }));
  CHECK(refuses([&] { regrouper.costs(std::vector<Code>{0, 2}); }));
  CHECK(refuses([&] { regrouper.costs(std::vector<Code>{1, 1}); }));
  CHECK(refuses([&] { regrouper.round(std::vector<Code>{0, 0}, {1, 32, 1}, 0, 0, 1, 1.0); }));
  LossCutter cutter(sound, true);
  CHECK(refuses([&] { cutter.propose(Ends{0}, Ends{3}, Ends{0}); }));
  CHECK(refuses([&] { cutter.propose(Ends{0}, Ends{2}, Ends{0, 0}); }));
}

}  // namespace

int main() {
  rounds_never_cost_more_and_keep_what_groups_must_have();
  many_groups_are_divided_into_neighbourhoods_and_threads_do_not_change_the_answer();
  cuts_are_the_cheapest();
  bad_input();
  return 0;
}
