function [tau, code, state, W, known] = {{ name }}(state, phi, y, yd, ydd{{ ", kind" if quantities }})
%{{ NAME }} Generalised forces of: {{ title }}
{% for line in about %}
%   {{ line }}
{% endfor %}
%
%   p = load('{{ name }}.mat');  state = [];  % [] is the home pose
%   [tau, code, state] = {{ name }}(state, p.phi, y, yd, ydd)
%   [tau, code, state, W, known] = {{ name }}(...)  % W * phi + known = tau
%
%   One sample per call: columns of coordinates y, speeds and accelerations, in SI units. Loops are
%   closed from the last pose, which is in state; calls have to follow a path.
%   Order of the coordinates and of their forces:
{% for line in coordinates %}
%   {{ loop.index }}: {{ line }}
{% endfor %}
{% if quantities %}
%
%   {{ name }}(state, phi, s, sd, sdd, 'measured') takes measured quantities instead:
{% for line in quantities %}
%   {{ loop.index }}: {{ line }}
{% endfor %}
{% endif %}
%
%   code 0: fine. Otherwise tau is nan and the state as it was; 1: the loops cannot be closed there,
%   2: a singular pose lies there or on the way, 3: too far from the last pose, 4: an input or a
%   force is inf or nan, 5: measured quantities do not determine the coordinates there.
before = state;
if isempty(state)
    state = struct('q', [{{ home_q | join("; ") }}], 'y', [{{ home_y | join("; ") }}]);
    before = state;
end
tau = nan({{ n }}, 1);
W = nan({{ n }}, {{ p }});
known = nan({{ n }}, 1);
code = 4;
if ~all(isfinite([y(:); yd(:); ydd(:)]))
    return
end
{% if quantities %}
if nargin > 5 && strcmp(kind, 'measured')
    [state, code] = fit_state(state, y);
    if code ~= 0
        state = before;
        return
    end
    [yd, ydd] = fit_rates(state.q, state.y, yd, ydd);
    y = state.y;
end
{% endif %}
[state, code] = move(state, y(:));
if code == 0
    found = inverse(state.q, y, yd, ydd, phi);
    if all(isfinite(found))
        tau = found;
    else
        code = 4;
    end
end
if code ~= 0
    state = before;
elseif nargout > 3
    [W, known] = observe(state.q, y, yd, ydd);
    W = reshape(W, {{ p }}, {{ n }})';
end
end

{% if closes %}
function [state, code] = move(state, y)
% Along the straight line to y: predict, close, check; a step that is not trusted is halved.
signs = [{{ signs | join("; ") }}];
q = state.q;
here = state.y;
way = y - state.y;
reached = 0;
part = 1;
failure = 0;
ahead = 3;
barrier = 0;
for k = 1:{{ limits.most_steps | int }}
    change = way * part;
    [trial, step, guard] = tangent(q, here, change);
    if guard(4) > {{ limits.longest }}
        part = part * 0.99 * {{ limits.longest }} / guard(4);
        continue
    end
    last = reached + part >= 1;
    target = state.y + (reached + part) * way;
    if last
        target = y;
    end
    trusted = {{ limits.trusted_part }} * guard(3) + {{ limits.trusted_size }};
    [trial, code] = close_loops(trial, target, trusted);
    if code == 0
        [~, turned, there, determinants] = tangent(trial, target, change);
        if ~(there(2) <= {{ limits.closed }})
            code = 1;
        elseif ~(there(1) > {{ limits.singular }}) || ~all(determinants .* signs > 0)
            code = 2;
        elseif ~all(abs(turned - step) <= trusted)
            code = 1;
        end
    end
    if code == 0
        q = trial;
        here = target;
        if last
            state.q = q;
            state.y = y;
            return
        end
        reached = reached + part;
        part = min(2 * part, 1 - reached);
        failure = 0;
    else
        failure = max(failure, code);
        ahead = code;
        barrier = reached + part;
        part = part / 2;
        if part < {{ limits.shortest_part }} && guard(3) < {{ limits.shortest_step }}
            code = failure;
            return
        end
    end
end
code = choose(reached < barrier, ahead, 3);
end

function [q, code] = close_loops(q, y, trusted)
% Newton's method at y, by no more than is trusted.
moved = 0;
code = 1;
for k = 1:{{ limits.most_corrections | int }}
    [following, size_of_step] = correct(q, y);
    moved = moved + size_of_step(1);
    if ~(moved <= trusted)
        return
    end
    q = following;
    if size_of_step(1) < {{ limits.last_step }}
        code = 0;
        return
    end
end
end
{% else %}
function [state, code] = move(state, y)
% There are no loops: every pose is closed.
state.q = place(state.q, y);
state.y = y;
code = 0;
end
{% endif %}
{% if quantities %}

function [state, code] = fit_state(state, s)
% Least squares on the closure.
for k = 1:{{ limits.most_fits | int }}
    [change, weak] = fit(state.q, state.y, s);
    if ~(weak(2) >= {{ limits.weak }})
        code = 5;
        return
    end
    [state, code] = move(state, state.y + change);
    if code ~= 0 || weak(1) < {{ limits.last_step }}
        return
    end
end
code = 1;
end
{% endif %}

{{ functions }}

function x = choose(condition, yes, no)
if condition
    x = yes;
else
    x = no;
end
end

function x = least_of(a, b)
x = choose(a < b || isnan(a), a, b);
end

function x = largest_of(a, b)
x = choose(a > b || isnan(a), a, b);
end

function x = root_of(a)
x = choose(a >= 0, real(sqrt(a)), nan);
end

function x = power_of(a, b)
x = a ^ b;
x = choose(isreal(x), real(x), nan);
end
